// A number of GPUs with what they are, as people say it in one: 32 H100, 4 x 8 A100 80GB, H100 x 16.
import type { Catalog } from '../core/api';

export interface WithGpu {
    amount: string; // the number, as it was written
    gpu: string; // an id of the catalogue, or the name as it was written where several have it: the core asks which
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[a-z]+\d[a-z\d]*|\d+|[a-z]+/g) ?? [];
const JOINT = /\s*(?:[x×*]|of|の|个|块|张|枚|基|台)?\s*(?:nvidia|amd)?\s*$/i; // between the number and the name
const UNIT = /\s*(?:gpus?|cards?)\s*$/i;

export function withGpu({ gpus }: Pick<Catalog, 'gpus'>, text: string, now: string): WithGpu | null {
    // Makers number the socket and name the kind of memory; the catalogue does neither.
    const bare = text
        .normalize('NFKC')
        .replace(/(sxm)\d|\s*\bhbm\w*/gi, '$1')
        .trim();
    const heads = [...new Set(gpus.map(({ label }) => label.split(' ')[0] ?? ''))].join('|');
    const [, before = '', name = '', after = ''] =
        new RegExp(`^(.*?)(?:\\b|x)((?:${heads})s?(?!\\w)(?:[ -](?!x)\\w+)*)(?:\\s*[x×*]\\s*(\\d.*))?$`, 'i').exec(
            bare.replace(UNIT, ''),
        ) ?? [];
    const amount = before.replace(JOINT, '') || after;
    const [head = '', ...rest] = wordsOf(name);
    if (amount === '' || head === '') return null;
    const one = head.replace(/s$/, ''); // of several
    const wanted = [one, ...rest];
    const meant = gpus.filter(({ label }) => {
        const words = wordsOf(label);
        return [wanted, [head, ...rest]].some((all) => all.every((word) => words.includes(word)));
    });
    const same = meant.find(({ id }) => id === now); // a name that the GPU chosen has, too, changes nothing
    const [only] = meant;
    if (!only) return null;
    return { amount, gpu: (same ?? (meant.length === 1 ? only : null))?.id ?? (one + name.slice(head.length)).toLowerCase() };
}
