// What a reader typed, as a number: 8k, 1.4 trillion, 15万亿, $2.50, 32 nodes. What is none stays the text it is.

// How a field's number may be written. Where it is a field of a job, this comes from the catalogue (state/kind.ts).
export interface Kind {
    whole?: boolean; // a count: any one separator in it parts thousands
    unit?: string; // may stand behind it
    thousand?: number; // what k multiplies with, m and b and t as its powers
    also?: { unit: string; factor: number; thousand: number }; // another unit, and how many of the field's own one of it is
    product?: boolean; // 32 x 8
}

export interface Typed {
    read(text: string, kind?: Kind): number | string;
}

const POWERS: Record<string, number> = { k: 1, m: 2, mn: 2, g: 3, b: 3, bn: 3, t: 4, tn: 4 };
// "billion" and "trillion" are what the page itself writes, in every locale of digits: 10⁹ and 10¹². Where a word of the long scale is
// spelled apart from them (Billionen, billón, bilioni), it says what it says there.
const NAMED = [
    'thousand|tausend|mil(l?e|a)?',
    'million(en)?|mill[oó]ne?|milion[ei]|mio|mln',
    'billion|milliard(en?)?|miliard[oi]|mrd',
    'trillion|billionen|bill[oó]ne?|bilion[ei]|bio',
    'quadrillion|billiard(en?)?',
].map((names) => new RegExp(`^(${names})s?\\.?$`)); // each a thousand of the one before
const HAN: Record<string, number> = { 十: 10, 百: 100, 千: 1e3, 万: 1e4, 萬: 1e4, 亿: 1e8, 億: 1e8, 兆: 1e12 };

// Spellings behind a number, in the languages of the page.
const UNITS: Record<string, string> = {
    tokens: 'tok(?:en)?s?|ctx|context|トークン|词元',
    sequences: 'seq(?:uence)?s?|samples?|シーケンス|系列|序列|条',
    gpus: 'gpus?|cards?|枚|基|卡|张',
    nodes: 'nodes?|servers?|machines?|ノード|节点',
    layers: 'layers?|層|层',
    grams_per_kwh: 'g(?:rams?)?(?:\\s*co2(?:eq?)?)?(?:\\s*(?:/|per)\\s*kwh)?|克|グラム',
    watts: 'w(?:atts?)?|ワット|瓦',
    days: 'd|days?|日|天',
    times: 'x|×|times|倍',
    gbyte: 'gi?b',
    gib: 'gi?b',
    gbyte_per_s: 'g(?:b|bytes?)(?:/s|ps)?',
    tbyte_per_s: 't(?:b|bytes?)(?:/s|ps)?',
    gbit_per_s: 'gbits?(?:/s|ps)?',
    tflop_per_s: 'tflops?(?:/s)?',
    pflop_per_s: 'pflops?(?:/s)?',
    per_hour: '(?:us[d$]|dollars?|eur(?:os?)?|gbp|jpy|cny|rmb|[$€£¥円元])?\\s*(?:(?:/|per)\\s*(?:gpu\\s*[-/]?\\s*)?h(?:(?:ou)?rs?)?)?',
};
const MILLION = 1e6;

// The digits alone. A point or comma before three last digits parts thousands in a count; elsewhere the reader's locale says what it does.
function digits(text: string, count: boolean, decimal: () => string): number | null {
    const [, sign = '', bare = ''] = /^([-−]?)(.*)$/.exec(text) ?? [];
    const number = (written: string): number => Number(written) * (sign === '' ? 1 : -1);
    const groups = /^\d{1,3}([,.'’_\s])(?:\d{2,3}\1)*\d{3}([,.]\d*)?$/u.exec(bare);
    const once = groups !== null && !groups[2] && bare.split(groups[1] as string).length === 2;
    if (groups && groups[1] !== groups[2]?.[0] && (count || !once || groups[1] !== decimal())) {
        const fraction = groups[2] ?? '';
        return number(bare.slice(0, bare.length - fraction.length).replace(/\D/g, '') + fraction.replace(',', '.'));
    }
    const plain = bare.replace(',', '.');
    return /^(\d+\.?\d*|\.\d+)$/.test(plain) ? number(plain) : null;
}

function scale(word: string, thousand: number): number | null {
    if (word === '') return 1;
    const power = POWERS[word];
    if (power !== undefined) return thousand ** power;
    if (/^[十百千万萬亿億兆]+$/.test(word)) return [...word].reduce((product, one) => product * (HAN[one] ?? 1), 1);
    if (word === 'mil') return null; // a million in English, a thousand in Spanish
    // "mil millones"
    return (
        word.split(/\s+/).reduce((product, one) => product * 1000 ** (NAMED.findIndex((name) => name.test(one)) + 1 || Number.NaN), 1) ||
        null
    );
}

// "m tokens" -> "m"; null: there is no such unit behind it.
const without = (rest: string, unit: string): string | null =>
    new RegExp(`^(.*?)\\s*(?:${UNITS[unit] ?? '(?!)'})$`).exec(rest)?.[1] ?? null;

const exact = (value: number): number => Number(value.toPrecision(15));

function product(text: string): number | null {
    const pattern = `^(\\d{1,7})\\s*(?:${UNITS.nodes})?\\s*(?:[x×*]|of|with)\\s*(\\d{1,7})\\s*(?:${UNITS.gpus})?$`;
    const [, nodes, each] = new RegExp(pattern).exec(text) ?? [];
    return nodes && each ? Number(nodes) * Number(each) : null;
}

function read(text: string, kind: Kind, decimal: () => string): number | null {
    // "Gb" are bits, as against "GB"; 2^10, 2¹⁰ and 15×10¹² are numbers.
    const bare = text
        .replace(/[⁰¹²³⁴-⁹]+/u, '^$&')
        .normalize('NFKC')
        .trim()
        .replace(/Gb(?=\/s|ps)/, 'Gbit')
        .toLowerCase()
        .replace(/(\d)\s*[x×*]\s*10\s*\^\s*(?=\d)/, '$1e')
        .replace(/^(\d{1,4})\s*(?:\^|\*\*)\s*(\d{1,2})/, (_, base, power) => String(base ** power));
    const multiplied = kind.product ? product(bare) : null;
    if (multiplied !== null) return multiplied;
    const amount = kind.unit === 'per_hour' ? bare.replace(/^(?:us)?[$€£¥]\s*/, '') : bare;
    const parts = /^([-−]?(?:\d|[,.'’_\s](?=\d))+[,.]?)(?:e\+?(\d{1,2}))?\s*(.*)$/u.exec(amount);
    if (!parts) return null;
    const [, written = '', power = '', rest = ''] = parts;
    const number = (inCount: boolean): number => digits(written, inCount, decimal) ?? Number.NaN;
    const bareRest = kind.unit ? without(rest, kind.unit) : null; // null: the field's unit is not written
    const own = scale(bareRest ?? rest, kind.thousand ?? 1000);
    const { also } = kind;
    // "4M" of a batch: nobody trains on millions of sequences at a time, and many write how many tokens it has.
    const meansTokens = also?.unit === 'tokens' && bareRest === null && own !== null && own >= MILLION;
    if (own !== null && !meansTokens) {
        const bareNumber = number(kind.whole === true && own === 1 && power === '') * 10 ** Number(power);
        const value = exact(bareNumber * own);
        if (!Number.isFinite(value)) return null;
        // "3.7k" of a count in 1,024s is 3,700 where that alone is whole.
        const plain = exact(bareNumber * (scale(bareRest ?? rest, 1000) ?? own));
        return kind.whole && !Number.isInteger(value) && Number.isInteger(plain) ? plain : value;
    }
    const word = meansTokens ? rest : also ? without(rest, also.unit) : null;
    if (!also || word === null) return null;
    // Tokens of a batch must divide by the sequence: 4M are four million where that does, and otherwise 4 x 1,024 x 1,024.
    const letter = word.replace(/^([mb])il\w*$/, '$1');
    const amountIn = (thousand: number): number => number(false) * 10 ** Number(power) * (scale(letter, thousand) ?? Number.NaN);
    const values = [1000, also.thousand].map((thousand) => exact(amountIn(thousand) * also.factor));
    const value = values.find(Number.isInteger) ?? values[0] ?? Number.NaN;
    return Number.isNaN(value) ? null : value;
}

// `decimal`: the reader's sign before decimals.
export const typedFormat = (decimal: () => string): Typed => ({
    read: (text, kind = {}) => read(text, kind, decimal) ?? text.trim(),
});
