// A part of a link under a name that no version of the page has written: which one was probably meant, by the words of the names that the
// core has for its fields, or by what is spelled alike.
import type { Catalog } from '../core/api';
import { distance } from '../shared/nearest';
import { say } from '../words/words';
import { unknownParts } from './state';

interface Name {
    link: string;
    words: string[];
}

// "microBatchSize" and "micro-batch-size" are "micro batch size".
const wordsOf = (name: string): string[] =>
    name
        .replace(/([a-z\d])([A-Z])/g, '$1 $2')
        .toLowerCase()
        .split(/[^a-z\d]+/)
        .filter(Boolean);

// What has no field of the core, and what other tools call it.
const OWN: readonly [link: string, name: string][] = [
    ['model', 'model'],
    ['gpu', 'gpu'],
    ['gpu', 'gpu_type'],
    ['gpu', 'gpu_name'],
    ['gpus', 'num_gpus'],
    ['gpus', 'gpu_count'],
    ['gpus', 'nodes'],
    ['gpus', 'world_size'],
    ['cluster', 'cluster'],
    ['method', 'method'],
];

const namesOf = ({ fields }: Catalog): Name[] =>
    [...fields.flatMap(({ link, key }) => [key, link].map((name) => [link, name] as const)), ...OWN].map(([link, name]) => ({
        link,
        words: wordsOf(name),
    }));

const ABBREVIATED = 3; // letters at least: "seq" of "sequence"
const BEGINS = 0.8; // of a word, at least, where the other one begins it

function sameness(a: string, b: string): number {
    const [short, long] = a.length < b.length ? [a, b] : [b, a];
    if (short === long) return 1;
    return short.length >= ABBREVIATED && long.startsWith(short) ? BEGINS + (0.1 * short.length) / long.length : 0;
}

// How much of two names is the same: 1 is all of both.
function alike(typed: string[], words: string[]): number {
    const same = words.map((word) => Math.max(0, ...typed.map((one) => sameness(one, word))));
    return same.reduce((sum, one) => sum + one, 0) / Math.max(typed.length, words.length);
}

const ENOUGH = 0.4; // "model_name" is a model's
const TYPO = 3; // one wrong letter in so many

export function meantPart(name: string, catalog: Catalog): string | null {
    const typed = wordsOf(name);
    const names = namesOf(catalog);
    const best = names.map((one) => ({ one, share: alike(typed, one.words) })).reduce((a, b) => (b.share > a.share ? b : a));
    if (best.share >= ENOUGH) return best.one.link;
    const whole = typed.join('_');
    const near = names.find(({ words }) => {
        const known = words.join('_');
        return distance(whole, known) <= Math.min(whole.length, known.length) / TYPO;
    });
    return near?.link ?? null;
}

// Of all unknown parts, for a notice.
export const saidParts = (unknown: readonly string[], catalog: Catalog): string =>
    unknownParts(unknown, (part) => {
        const near = meantPart(part, catalog);
        return near === null ? part : say('link.meant', { part, near });
    });

// The link with the names that were meant, where it has none of these already.
export function mendedLink(search: string, unknown: readonly string[], catalog: Catalog): string | undefined {
    const given = new URLSearchParams(search);
    const mended = search.replace(/([?&])([^=&]*)/g, (part, before: string, written: string) => {
        const [name = ''] = new URLSearchParams(written).keys();
        const near = unknown.includes(name) ? meantPart(name, catalog) : null;
        if (near === null || given.has(near)) return part;
        given.set(near, '');
        return before + near;
    });
    return mended === search ? undefined : mended;
}
