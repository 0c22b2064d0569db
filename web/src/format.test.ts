import { describe, expect, test } from 'vitest';
import { createFormat } from './format';

const en = createFormat('en');
const de = createFormat('de');
const fr = createFormat('fr');
const india = createFormat('en-IN');
const GIB = 2 ** 30;

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
    expect([24.3, -1.2, 0].map((gib) => en.change(gib * GIB))).toEqual(['+24.3', '−1.20', '±0']);
});

test('tables: two decimals and exact bytes', () => {
    expect(en.headline(60450574336, 80 * GIB)).toBe('56');
    expect(en.headline(80.2 * GIB, 80 * GIB)).toBe('80.2');
    expect(en.headline(7.48 * GIB, 80 * GIB)).toBe('7.48');
    expect(en.gib(60450574336)).toBe('56.30');
    expect(en.bytes(60450574336)).toBe('60,450,574,336');
});

test('a share never reads as the border that it has not reached', () => {
    const percents = [0.0015, 0.7037, 0.8, 0.8001, 0.7999, 0.803, 1, 1.0004, 2.172].map((share) => en.percent(share).replace(/\s/, ' '));
    expect(percents).toEqual(['0.2 %', '70 %', '80 %', '80.0 %', '80.0 %', '80.3 %', '100 %', '100.0 %', '217 %']);
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
        ['8,19', '8,19'],
        ['8k', '8k'],
        ['-8', '-8'],
        ['8.5', '8.5'],
        ['1,000.000', '1,000.000'],
        ['1e3', '1e3'],
        ['99999999999999999999', '99999999999999999999'],
    ])('%s', (text, value) => {
        expect(en.parse(text)).toBe(value);
        expect(de.parse(text)).toBe(value);
    });
    test('every locale reads what it writes', () => {
        for (const format of [en, de, fr, india])
            for (const value of [1, 999, 1000, 8192, 1048576]) expect(format.parse(format.count(value))).toBe(value);
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
        ['1e3', '1e3'],
    ])('a fraction: %s', (text, value) => {
        expect(en.parseDecimal(text)).toBe(value);
        expect(de.parseDecimal(de.number(0.25))).toBe(0.25);
    });
});
