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

// "llama " and 3.1 of "Llama 3.1 70B": a number of billions, or of experts, is no version.
const familyOf = ({ label }: CatalogModel): string => label.toLowerCase().replace(/\d.*/, '');
const versionOf = ({ label }: CatalogModel): number => Number(/\d+(\.\d+)?(?![\d.]*[btx])/i.exec(label)?.[0] ?? 0);

// Who names no version of a family means its newest one: it comes first.
export function search(models: CatalogModel[], typed: string): CatalogModel[] {
    const words = wordsOf(typed);
    if (words.length === 0) return models;
    const found = models.filter(({ id, label, repository }) => {
        const names = wordsOf(`${id} ${label} ${repository}`);
        const text = `${names.join(' ')} ${names.join('')}`; // "llama3" is in "Llama 3"
        return words.every((word) => has(text, word));
    });
    const families = found.map(familyOf);
    const place = (model: CatalogModel): number => families.indexOf(familyOf(model));
    return found.sort((a, b) => place(a) - place(b) || versionOf(b) - versionOf(a));
}
