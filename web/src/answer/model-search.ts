// Which models a reader may mean: all words typed are found in a model's name, id or repository, in any order.
import type { CatalogModel } from '../core/api';

const BETWEEN = /[\s\-_/,;:()]+/;

export const wordsOf = (text: string): string[] => text.normalize('NFKC').toLowerCase().split(BETWEEN).filter(Boolean);

// What many repositories' names end with: it tells no model from another. "inst" is still typed. Alone it is searched for.
const USUAL = /(^|[\s_-])(inst(r(uct?)?)?|chat|base|hf|[ip]t)(?=[\s_-]|$)/gi;
export const withoutUsual = (text: string): string => text.replace(USUAL, '').trim() || text;

const NONE = ' -'; // in no name

// A number counts where a word begins, or behind an x or the word typed before it: "7b" is in "8x7b", not in "27b", and "3" in "qwen3" of
// "qwen 3". A whole one ends there too: "3" is in "3.1", not in "32b".
function has(names: string[], word: string, before: string, whole: boolean): boolean {
    if (!/^\d/.test(word)) {
        if (names.join('').includes(word)) return true; // "llama3" is in "Llama 3"
        const [, name = '', size] = /^(\D+)(\d[\d.]*[bm])$/.exec(word) ?? []; // "llama70b" is "llama 70b"
        return size !== undefined && has(names, name, '', true) && has(names, size, '', whole);
    }
    const around = names.join(' ').split(word);
    return around.some(
        (left, i) =>
            i + 1 < around.length &&
            (/(^|[^a-wyz\d.])$/.test(left) || (/\D$/.test(before) && left.endsWith(before))) &&
            !(whole && /^\d/.test(around[i + 1] ?? '')),
    );
}

// Whether all words are in the names of a model; unless `whole`, the last one may still be typed.
type Named = Pick<CatalogModel, 'id' | 'label' | 'repository'>;
const called = ({ id, label, repository }: Named, words: string[], whole: boolean): boolean => {
    const names = wordsOf(`${id} ${label} ${repository}`);
    return words.every((word, i) => has(names, word, words[i - 1] ?? NONE, whole || i + 1 < words.length));
};

export const isWhole = (model: Named | undefined, typed: string): boolean =>
    model !== undefined && called(model, wordsOf(withoutUsual(typed)), true);

// "llama" of "Llama 3.1 70B".
const familyOf = ({ label }: Named): string => label.replace(/[\s-]*\d.*/, '').toLowerCase();

// The number behind it is a version, or a size: "65B". A size says no version, and that is the oldest.
function numbersOf({ label }: Named): [version: number, size: number] {
    const [, number = '', isSize] = /(\d[\d.]*)([bmt]\b)?/i.exec(label) ?? [];
    return isSize ? [0, Number(number)] : [Number.parseFloat(number) || 0, 0];
}

// "qwen3" is Qwen3 before it is the beginning of Qwen3.5, and "3" is Llama 3 before it is that of Llama 3.1. "gemma 2b" is all of Gemma 2B.
const named = ({ label }: Named, words: string[]): number => {
    const names = wordsOf(label);
    return words.filter((word) => /\d/.test(word) && names.includes(word)).length + Number(names.every((name) => words.includes(name)));
};

// Who names no version of a family means its newest one: it comes first. Where the number is a size, the largest one does.
export function search<Model extends Named>(models: Model[], typed: string): Model[] {
    const words = wordsOf(withoutUsual(typed));
    if (words.length === 0) return models;
    const families = models.map(familyOf);
    return models
        .filter((model) => called(model, words, false))
        .map((model) => {
            const [version, size] = numbersOf(model);
            return {
                model,
                by: [Number(called(model, words, true)), named(model, words), -families.indexOf(familyOf(model)), version, size],
            };
        })
        .sort((a, b) => a.by.reduce((order, one, i) => order || (b.by[i] ?? 0) - one, 0))
        .map(({ model }) => model);
}
