import { describe, expect, test } from 'vitest';
import type { TimeItem, TimeKind } from '../core/api';
import { createFormat } from './format';
import { localeFor, usableLocale } from './locale';
import { kindsOf } from './sums';
import type { Kind } from './typed';

const en = createFormat('en');
const de = createFormat('de');
const fr = createFormat('fr');
const india = createFormat('en-IN');
const GIB = 2 ** 30;

test('a language that is none is passed over', () => {
    expect(usableLocale(['C', 'de-DE'])).toBe('de-DE');
    expect(usableLocale(['', 'en_US'])).toBe('en');
    expect(usableLocale([])).toBe('en');
});

test('a page in English shows the digits of the reader; one in another language its own', () => {
    expect(localeFor('en', ['de-DE', 'en'])).toBe('de-DE');
    expect(localeFor('ja', ['de-DE', 'ja-JP'])).toBe('ja-JP');
    expect(localeFor('zh', ['de-DE'])).toBe('zh');
});

test('the language has the words beside the digits', () => {
    const ja = createFormat('ja', 'ja');
    expect([ja.duration(12960000), ja.short(8030261248), ja.count(8192), ja.enumerate(['A', 'B'])]).toEqual([
        '150日',
        '80.3億',
        '8,192',
        'A、B',
    ]);
    expect(createFormat('de', 'en').duration(44640)).toBe('12,4\u00a0hours');
    expect([en.enumerate(['A']), en.enumerate(['A', 'B', 'C'])]).toEqual(['A', 'A, B, and C']);
});

test('three significant digits in sentences', () => {
    expect([0.1254, 1.234, 9.994, 9.996, 12, 56.3, 99.94, 99.96, 173.8, 1234.5].map((gib) => en.gb(gib * GIB))).toEqual([
        '0.13',
        '1.23',
        '9.99',
        '10.0',
        '12.0',
        '56.3',
        '99.9',
        '100',
        '174',
        '1,235',
    ]);
});

test('changes carry their sign', () => {
    expect([24.3, -1.2, 0, -0.004, 0.006].map((gib) => en.change(gib * GIB))).toEqual(['+24.3', '−1.20', '±0', '±0', '+0.01']);
});

test('tables: two decimals and exact bytes', () => {
    expect(en.headline(60450574336, 80 * GIB)).toBe('56');
    expect(en.headline(80.2 * GIB, 80 * GIB)).toBe('80.2');
    expect(en.headline(7.48 * GIB, 80 * GIB)).toBe('7.48');
    expect([en.headline(20.46 * GIB, 24 * GIB), en.safe(20.53 * GIB, 24 * GIB), en.safe(68.97 * GIB, 80 * GIB)]).toEqual([
        '20.5',
        '20.5',
        '68',
    ]);
    // what keeps to the line never reads as more than it: 21.5 of 21.4, 72 of 71
    expect([en.headline(21.46 * GIB, 24 * GIB), en.safe(21.47 * GIB, 24 * GIB, 21.46 * GIB)]).toEqual(['21.5', '21.5']);
    expect([en.safe(71.6 * GIB, 80 * GIB, 71.55 * GIB), en.safe(71.6 * GIB, 80 * GIB, 71.65 * GIB)]).toEqual(['72', '71']);
    expect(en.gib(60450574336)).toBe('56.30');
    expect(en.bytes(60450574336)).toBe('60,450,574,336');
});

test('a share never reads as the border that it has not reached', () => {
    const percents = [0.0001, 0.0015, 0.7037, 0.8, 0.8001, 0.7999, 0.803, 1, 1.0004, 2.172].map((share) =>
        en.percent(share).replace(/\s/g, ' '),
    );
    expect(percents).toEqual(['< 0.1 %', '0.2 %', '70 %', '80 %', '80.0 %', '80.0 %', '80.3 %', '100 %', '100.0 %', '217 %']);
});

const plain = (text: string) => text.replace(/\s/g, ' ');

test('times: the unit that a reader would use, three significant digits', () => {
    const times = [0.0123, 0.85, 1, 42.34, 59.97, 60, 108.53, 599, 660, 742, 7000, 7200, 44640, 172799, 172800, 12960000];
    expect(times.map((seconds) => plain(en.duration(seconds)))).toEqual([
        '12.3 ms',
        '850 ms',
        '1.00 s',
        '42.3 s',
        '1 min',
        '1 min',
        '1 min 49 s',
        '9 min 59 s',
        '11 min',
        '12.4 min',
        '117 min',
        '2 hours',
        '12.4 hours',
        '48.0 hours',
        '2 days',
        '150 days',
    ]);
    expect(plain(de.duration(42.34))).toBe('42,3 s');
});

test('the band has the unit and the decimals of the time that it belongs to', () => {
    const bands: [number, number, number][] = [
        [6.93, 6.24, 7.5],
        [5, 4.3, 5.7],
        [0.0452, 0.04, 0.05],
        [108.5, 102, 115],
        [10.2, 9.6, 10.9],
        [742, 674, 816],
        [7200, 6480, 8000],
        [61, 60.8, 61.2],
    ];
    expect(bands.map((band) => plain(en.margin(...band)))).toEqual([
        '0.69 s',
        '0.70 s',
        '5.20 ms',
        '7 s',
        '0.7 s',
        '1.20 min',
        '0.22 hours',
        '200 ms', // what would read as nothing is written by itself
    ]);
    expect(createFormat('ja', 'ja').margin(108.5, 102, 115)).toBe('7秒');
    expect(en.training(150.3, 141.2, 159.4).map(plain)).toEqual(['150 days', '141', '159', '159 days']);
    expect(en.training(1.5, 1.4, 1.6).map(plain)).toEqual(['36 hours', '33.6', '38.4', '38.4 hours']);
    expect(en.training(0.02, 0.019, 0.021).map(plain)).toEqual(['28.8 minutes', '27.4', '30.2', '30.2 minutes']);
    expect(en.training(0.00032, 0.0003, 0.00035).map(plain)).toEqual(['27.6 seconds', '25.9', '30.2', '30.2 seconds']);
    expect(en.training(1540, 1400, 1700).map(plain)).toEqual(['4.22 years', '3.83', '4.65', '4.65 years']);
    expect([365, 366].map((days) => plain(en.training(days, days, days)[0]))).toEqual(['365 days', '1.00 years']);
    expect(['ja', 'zh'].map((language) => plain(createFormat(language, language).training(1540, 1540, 1540)[0]))).toEqual([
        '4.22年',
        '4.22年',
    ]);
    expect(en.training(330_000, 300_000, 360_000).map(plain)).toEqual(['903 years', '821', '986', '986 years']);
});

test('time lost and gained', () => {
    const steps: [number, number][] = [
        [116.1, 108.5],
        [94.6, 108.5],
        [108.51, 108.5],
        [180.9, 108.5],
    ];
    expect(steps.map((pair) => plain(en.slower(...pair)))).toEqual(['+7.60 s', '−13.9 s', '±0 s', '+1 min 12 s']);
});

test('amounts of money, energy and tokens', () => {
    expect([77290.99, 603123, 1234567, 0.5].map(en.rounded)).toEqual(['77,300', '603,000', '1.23 million', '0.5']);
    expect([412, 361600, 2.5e6].map((kwh) => plain(en.energy(kwh)))).toEqual(['412 kWh', '362 MWh', '2.50 GWh']);
    expect([0, 1e-5, 0.9, 4e10].map((kwh) => plain(en.energy(kwh)))).toEqual(['0 kWh', '0.01 Wh', '900 Wh', '40 TWh']);
    expect([0.004, 850, 174_000, 5e9].map((kg) => plain(en.mass(kg)))).toEqual(['4 g', '850 kg', '174 t', '5 Mt']);
    const typed = ['1,000,000,000,000', '1.000.000', '1 000', '1e12', '2.5', '2,5', '', '15000000000000', 'many', '-1', '1,000,00'];
    expect(typed.map((text) => en.read(text))).toEqual([1e12, 1e6, 1000, 1e12, 2.5, 2.5, '', 1.5e13, 'many', -1, '1,000,00']);
    expect([99_999_999_999, -9.99999e10].map(en.measured)).toEqual(['1×10¹¹', '-1×10¹¹']);
    expect(en.measured(8192.5)).toBe('8,192.5'); // never as if it were whole
    expect([256, 0, 0.007675947705, 8_030_261_248, 989.4e12, 2.5e-7, -3e10].map(en.measured)).toEqual([
        '256',
        '0',
        '0.007676',
        '8,030,261,248',
        '9.894×10¹⁴',
        '2.5×10⁻⁷',
        '-3×10¹⁰',
    ]);
});

test('a step by the kinds of its items, in their own order', () => {
    const item = (kind: TimeKind, seconds: number) => ({ kind, seconds, share: seconds / 10 }) as TimeItem;
    expect(kindsOf([item('other', 1), item('compute', 3), item('bubble', 2), item('compute', 4)])).toEqual([
        { kind: 'compute', seconds: 7, share: 0.7 },
        { kind: 'bubble', seconds: 2, share: 0.2 },
        { kind: 'other', seconds: 1, share: 0.1 },
    ]);
});

test('separators are the reader’s', () => {
    expect(en.count(8192)).toBe('8,192');
    expect(de.count(8192)).toBe('8.192');
    expect(de.gb(56.3 * GIB)).toBe('56,3');
    expect(en.number(1.5)).toBe('1.5');
    expect(en.short(8030261248)).toBe('8.03 billion');
});

describe('what the reader types', () => {
    test.each([
        ['8192', 8192],
        [' 8192 ', 8192],
        ['8,192', 8192],
        ['8.192', 8192],
        ['8 192', 8192],
        ['8\u202f192', 8192],
        ["1'048'576", 1048576],
        ['1_024', 1024],
        ['0', 0],
        ['', ''],
        ['8,19', 8.19],
        ['8k', 8000],
        ['-8', -8],
        ['8.5', 8.5],
        ['1,000.000', 1000],
        ['1e3', 1000],
        ['99999999999999999999', 1e20], // the core says that it is too large
        ['9'.repeat(400), '9'.repeat(400)],
    ])('%s', (text, value) => {
        expect(en.read(text, { whole: true })).toBe(value);
        expect(de.read(text, { whole: true })).toBe(value);
    });
    test('every locale reads what it writes', () => {
        for (const format of [en, de, fr, india])
            for (const value of [1, 999, 1000, 8192, 1048576]) expect(format.read(format.count(value), { whole: true })).toBe(value);
    });
    test.each([
        ['0.5', 0.5],
        ['0,5', 0.5],
        [' 1 ', 1],
        ['.25', 0.25],
        ['0.', 0],
        ['-1', -1],
        ['', ''],
        ['1.2.3', '1.2.3'],
        ['half', 'half'],
        ['1e3', 1000],
    ])('a fraction: %s', (text, value) => {
        expect(en.read(text)).toBe(value);
        expect(de.read(de.number(0.25))).toBe(0.25);
    });
    const sequence: Kind = { whole: true, unit: 'tokens', thousand: 1024 };
    const gpus: Kind = { whole: true, unit: 'gpus', product: true, also: { unit: 'nodes', factor: 8, thousand: 1000 } };
    const batch: Kind = { whole: true, unit: 'sequences', also: { unit: 'tokens', factor: 1 / 8192, thousand: 1024 } };
    const money: Kind = { unit: 'per_hour' };
    const tokens: Kind = { unit: 'tokens' };
    const grid: Kind = { unit: 'grams_per_kwh' };
    test.each<[string, Kind, number | string]>([
        ['8k', sequence, 8192],
        ['8K', sequence, 8192],
        ['８ｋ', sequence, 8192],
        ['128k tokens', sequence, 131072],
        ['1M', sequence, 1048576],
        ['0.5k', sequence, 512],
        ['1,5k', sequence, 1536],
        ['8万', sequence, 80000],
        ['８，１９２', sequence, 8192],
        ['8 thousand', sequence, 8000],
        ['8kk', sequence, '8kk'],
        ['8k sequences', sequence, '8k sequences'],
        ['1k', gpus, 1000],
        ['32 nodes', gpus, 256],
        ['32 ノード', gpus, 256],
        ['32 x 8', gpus, 256],
        ['4×8', gpus, 32],
        ['４ｘ８', gpus, 32],
        ['32 nodes x 4 GPUs', gpus, 128],
        ['64 GPUs', gpus, 64],
        ['64枚', gpus, 64],
        ['1,5 nodes', gpus, 12],
        ['32 x', gpus, '32 x'],
        ['nodes', gpus, 'nodes'],
        ['512 sequences', batch, 512],
        ['4M tokens', batch, 512], // 4 x 2^20
        ['8,192,000 tokens', batch, 1000],
        ['5M tokens', batch, 640],
        ['3.2M tokens', batch, 390.625], // neither divides: the core says what is nearest
        ['2k', batch, 2000],
        ['4M', batch, 512], // tokens: nobody has millions of sequences
        ['16 million', batch, 2048],
        ['4 million tokens', batch, 512],
        ['8.192 million tokens', batch, 1000],
        ['2^10', gpus, 1024],
        ['2¹⁰ GPUs', gpus, 1024],
        ['2**13', sequence, 8192],
        ['4 nodes of 8', gpus, 32],
        ['4 nodes with 8 GPUs', gpus, 32],
        ['4k ctx', sequence, 4096],
        ['3.7k', sequence, 3700],
        ['3.75k', sequence, 3840],
        ['1.23456k', sequence, 1264.18944], // neither is whole
        ['15×10¹²', tokens, 1.5e13],
        ['1.5 x 10^13 tokens', tokens, 1.5e13],
        ['1 quadrillion', tokens, 1e15],
        ['4M sequences', batch, 4e6],
        ['2,000,000', batch, 2e6],
        ['$2.50', money, 2.5],
        ['US$2.50/h', money, 2.5],
        ['2.50 USD', money, 2.5],
        ['2.5 dollars per GPU-hour', money, 2.5],
        ['¥300', money, 300],
        ['300円', money, 300],
        ['1T', tokens, 1e12],
        ['1.4 trillion', tokens, 1.4e12],
        ['15 trillion tokens', tokens, 1.5e13],
        ['15T tokens', tokens, 1.5e13],
        ['15万亿', tokens, 1.5e13],
        ['１兆', tokens, 1e12],
        ['３億トークン', tokens, 3e8],
        ['300B', tokens, 3e11],
        ['1e9', tokens, 1e9],
        ['1,000,000.5', tokens, 1000000.5],
        ['15 T T', tokens, '15 T T'],
        ['0.7 kW', { unit: 'watts' }, 700],
        ['80 GB', { unit: 'gib' }, 80],
        ['400 g', grid, 400],
        ['50 g/kWh', grid, 50],
        ['0.4 kg', grid, 400],
        ['0.4 kg per kWh', grid, 400],
        ['380 gCO₂eq/kWh', grid, 380],
        ['400 GW', grid, '400 GW'],
        ['30 days', { whole: true, unit: 'days' }, 30],
    ])('as people write it: %s', (text, kind, value) => {
        expect(en.read(text, kind)).toBe(value);
    });
    test.each([
        ['1,5 Billionen', 1.5e12],
        ['1,5 Mio.', 1.5e6],
        ['400 Mrd', 4e11],
        ['2 Milliarden tokens', 2e9],
        ['1 Billiarde', 1e15],
        ['300 tausend', 3e5],
        ['1,5 billones', 1.5e12],
        ['1 billón', 1e12],
        ['500 mil millones', 5e11],
        ['3 millones', 3e6],
        ['15 milliards', 1.5e10],
        ['15 mille milliards', 1.5e13],
        ['2 bilioni', 2e12],
        ['1,5 miliardi', 1.5e9],
        ['7 milioni', 7e6],
        ['15 billion', 1.5e10], // as the page itself writes it, whatever the digits
        ['15 Billion', 1.5e10],
        ['1,4 trillion', 1.4e12],
        ['3 Trillionen', '3 Trillionen'],
        ['15 mil', '15 mil'], // a million in English
    ])('words of the long scale that are no English ones: %s', (text, value) => {
        expect(de.read(text, tokens)).toBe(value);
    });
    test('what a point does before three digits, the reader’s locale says', () => {
        expect([en.read('1.400 trillion'), en.read('1,400')]).toEqual([1.4e12, 1400]);
        expect([de.read('1,400 trillion'), de.read('1.400'), de.read('1.234.567,5')]).toEqual([1.4e12, 1400, 1234567.5]);
    });
});

test('minutes and seconds in the letters of a language that has some', () => {
    const times = (language: string) => [125, 120, 1500].map(createFormat(language, language).duration);
    expect([times('ja'), times('zh')]).toEqual([
        ['2分5秒', '2分', '25分'],
        ['2分钟5秒', '2分钟', '25分钟'],
    ]);
    const brief = (language: string) => {
        const { duration, slower } = createFormat(language, language);
        return [duration(30.1), duration(0.85), slower(30, 30), slower(62, 30)].map(plain);
    };
    expect([brief('ja'), brief('zh'), brief('en')]).toEqual([
        ['30.1秒', '850 ms', '±0秒', '+32.0秒'],
        ['30.1秒', '850毫秒', '±0秒', '+32.0秒'],
        ['30.1 s', '850 ms', '±0 s', '+32.0 s'],
    ]);
});

test('money is in dollars, large sums short', () => {
    const en = createFormat('en');
    const dollars = (amount: number): string => plain(en.dollars(amount));
    expect([3.99, 17_012, 96_040, 1_490_000, 12.4e6].map(dollars)).toEqual(['$3.99', '$17,000', '$96,000', '$1.49 M', '$12.4 M']);
    expect([0.0004, 0.02, 0.3, 2.5, 999_700, 3e12].map(dollars)).toEqual(['$0.0004', '$0.02', '$0.30', '$2.50', '$1.00 M', '$3.00 T']);
    const { dollars: yen, short } = createFormat('ja', 'ja');
    expect([1_490_000, 44.6e6].map(yen)).toEqual(['$149万', '$4,460万']);
    expect(short(161e9)).toBe('1,610億');
    expect([3.99, 1_490_000].map(createFormat('zh-CN', 'zh').dollars)).toEqual(['US$3.99', 'US$149万']);
});

test('carbon and months', () => {
    const en = createFormat('en');
    expect([850, 174_200, 12.34e6].map(en.mass).map((text) => text.replace(/\s/g, ' '))).toEqual(['850 kg', '174 t', '12.3 kt']);
    expect(en.month('2026-09')).toBe('September 2026');
});
