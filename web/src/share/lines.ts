// Text in a drawing of a fixed size has to be broken into lines by whoever draws it.
export type Measure = (text: string, font: string) => number;

const FAMILY = 'system-ui, sans-serif';
export const font = (size: number, weight = 400): string => `${weight} ${size}px ${FAMILY}`;

const isWide = (letter: string): boolean => /[\u2e80-\u9fff\uf900-\uffef]/.test(letter);
const sizeOf = (font: string): number => Number(/(\d+)px/.exec(font)?.[1]);

// Where nothing can be measured: what the letters of most fonts take.
const roughly: Measure = (text, font) => [...text].reduce((sum, letter) => sum + (isWide(letter) ? 1 : 0.58), 0) * sizeOf(font);

export function createMeasure(): Measure {
    const context = document.createElement('canvas').getContext?.('2d');
    if (!context) return roughly;
    return (text, font) => {
        context.font = font;
        return context.measureText(text).width;
    };
}

// Whoever opens the drawing may have another font than whoever made it.
const SLACK = 0.96;
// Between words; Chinese and Japanese break between any two letters, but not before a full stop or a comma.
const WIDE = '\\u2e80-\\u9fff\\uf900-\\uffef';
const NO_BREAK = '\\u00a0\\u202f';
const STOPS = '[、。，．：；？！）」』]*';
const PIECE = new RegExp(`[${WIDE}]${STOPS}|(?:[^\\s${WIDE}]|[${NO_BREAK}])+${STOPS}[^\\S${NO_BREAK}]*|\\s+`, 'gu');

// At most so many lines; what is left out is marked.
export function linesOf(text: string, width: number, most: number, font: string, measure: Measure, anywhere = false): string[] {
    const fits = (line: string): boolean => measure(line.trimEnd(), font) <= width * SLACK;
    const pieces = anywhere ? [...text] : (text.match(PIECE) ?? []).flatMap((piece) => (fits(piece) ? [piece] : [...piece]));
    const lines = [''];
    for (const piece of pieces) {
        const line = (lines.at(-1) ?? '') + piece;
        if (fits(line)) lines[lines.length - 1] = line;
        else lines.push(piece.trimStart());
    }
    const whole = lines.map((line) => line.trimEnd());
    if (whole.length <= most) return whole;
    let last = whole[most - 1] ?? '';
    while (last && !fits(`${last}…`)) last = last.slice(0, -1);
    return [...whole.slice(0, most - 1), `${last}…`];
}
