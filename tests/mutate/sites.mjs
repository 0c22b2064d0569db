// Where a small mistake can be made in the formulas of memory and time, and which of these places a seed draws.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOMS = ['memory', 'time'];

// 1 where a character is code: not in a comment, a string, a line of the preprocessor, a static_assert or the head of a template.
export function codeMask(text) {
    const mask = new Uint8Array(text.length).fill(1);
    for (const match of text.matchAll(
        /\/\/[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)'|^#[^\n]*|static_assert\([^;]*;|\btemplate <[^>]*>/gm,
    )) {
        if (match[0].startsWith("'") && /[0-9]/.test(text[match.index - 1] ?? '')) continue; // 1'024
        mask.fill(0, match.index, match.index + match[0].length);
    }
    return mask;
}

// The order of this table is a part of what a seed means.
const NUMBER = '#';
const MISTAKES = [
    [/ \+ /g, ' - '],
    [/ - /g, ' + '],
    [/ \* /g, ' / '],
    [/ \/ /g, ' * '],
    [/ <= /g, ' < '],
    [/ >= /g, ' > '],
    [/ < /g, ' <= '],
    [/ > /g, ' >= '],
    [/ == /g, ' != '],
    [/ != /g, ' == '],
    [/ && /g, ' || '],
    [/ \|\| /g, ' && '],
    [/\bmin\(/g, 'max('],
    [/\bmax\(/g, 'min('],
    [/\bceil\(/g, '('],
    [/(?<![\w.'{[])\d[\d']*(?:\.\d+)?(?:e-?\d+)?(?![\w.'\]])/g, NUMBER],
];
function changedNumber(text) {
    const plain = text.replaceAll("'", '');
    const number = Number(plain);
    if (number === 0) return '1';
    return /^\d+$/.test(plain) ? String(number + 1) : String(number * 1.25);
}

// The places of one file: {at: where in its text, was, now: what stands there, and what a mutant has}.
export function sitesOf(text) {
    const code = codeMask(text);
    const found = [];
    for (const [pattern, change] of MISTAKES) {
        for (const match of text.matchAll(pattern)) {
            const was = match[0];
            if (!code[match.index + (was.startsWith(' ') ? 1 : 0)]) continue;
            found.push({ at: match.index, was, now: change === NUMBER ? changedNumber(was) : change });
        }
    }
    return found;
}

// Every file of the two rooms, as {name: memory/verdict.cpp, text, sites}. A site's id is its number among all of them.
export function readFiles(core) {
    const names = ROOMS.flatMap((room) => readdirSync(join(core, room)).map((name) => `${room}/${name}`)).filter((name) =>
        /\.(cpp|h)$/.test(name),
    );
    let id = 0;
    return names.map((name) => {
        const text = readFileSync(join(core, name), 'utf8');
        return { name, text, sites: sitesOf(text).map((site) => ({ id: id++, file: name, ...site })) };
    });
}

// Takes one after another from the sites, each once, by a generator of our own: a seed says which they are.
export function* drawn(sites, seed) {
    let state = BigInt(seed) * 2654435761n + 1n;
    const left = [...sites];
    while (left.length > 0) {
        state = (state * 6364136223846793005n + 1442695040888963407n) & ((1n << 64n) - 1n);
        yield left.splice(Number((state >> 33n) % BigInt(left.length)), 1)[0];
    }
}
