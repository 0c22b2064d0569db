// Which models a reader may mean: all words typed are found in a model's name, id or repository, in any order.
import type { CatalogModel } from '../core/api';

const BETWEEN = /[\s\-_/,;:()]+/;

const wordsOf = (text: string): string[] => text.normalize('NFKC').toLowerCase().split(BETWEEN).filter(Boolean);

// A word that begins with a digit counts only where a word does, or behind an x: "7b" is in "8x7b", not in "27b".
function has(text: string, word: string): boolean {
    if (!/^\d/.test(word)) return text.includes(word);
    const literal = word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    return new RegExp(`(?:^|[^a-wyz\\d.])${literal}`).test(text);
}

// "Llama " of "Llama 3.1 70B": its models stand together in the catalogue.
const familyOf = ({ label }: CatalogModel): string => label.replace(/\d.*/, '');
const numberOf = ({ label }: CatalogModel): number => Number.parseFloat(label.replace(/^\D+/, ''));

// "qwen3" is Qwen3 before it is the beginning of Qwen3.5.
const named = ({ label }: CatalogModel, words: string[]): number => {
    const names = wordsOf(label);
    return words.filter((word) => /^[a-z]+\d/.test(word) && names.includes(word)).length;
};

// Who names no version of a family means its newest one: it comes first. Where the number is a size, the largest one does.
export function search(models: CatalogModel[], typed: string): CatalogModel[] {
    const words = wordsOf(typed);
    if (words.length === 0) return models;
    const found = models.filter(({ id, label, repository }) => {
        const names = wordsOf(`${id} ${label} ${repository}`);
        const text = `${names.join(' ')} ${names.join('')}`; // "llama3" is in "Llama 3"
        return words.every((word) => has(text, word));
    });
    return found.sort((a, b) => named(b, words) - named(a, words) || (familyOf(a) === familyOf(b) ? numberOf(b) - numberOf(a) : 0));
}
