// How many small mistakes in the formulas of memory and time do the tests notice? Changes one constant or operator at a time in a copy of the
// tree, builds the tests that were worked by hand or state a law, and runs them: no golden answer, no measured run.
//   node tests/mutate/mutate.mjs [--count 200] [--seed 1] [--only memory/verdict.cpp] [--at-least 85]
// Prints every mutant that survived, and the share that died; exits with 1 below --at-least.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { values: options } = parseArgs({
    options: {
        count: { type: 'string', default: '200' },
        seed: { type: 'string', default: '1' },
        only: { type: 'string', default: '' },
        'at-least': { type: 'string', default: '0' },
    },
});
const ROOMS = ['memory', 'time'];
// Of the target fourfold_by_hand: not what rests on measured runs.
const MEASURED = ['measured:*', 'published:*', 'the residuals are*', 'of the plans called*', "*own run*"];

// ---- where a mistake can be made
const isCode = (text) => {
    // 1 where a character is code: not in a comment, a string or a line of the preprocessor
    const mask = new Uint8Array(text.length).fill(1);
    for (const match of text.matchAll(/\/\/[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)'|^#[^\n]*|static_assert\([^;]*;|\btemplate <[^>]*>/gm)) {
        if (match[0].startsWith("'") && /[0-9]/.test(text[match.index - 1] ?? '')) continue; // 1'024
        mask.fill(0, match.index, match.index + match[0].length);
    }
    return mask;
};
const OPERATORS = [
    [/ \+ /g, [' - ']],
    [/ - /g, [' + ']],
    [/ \* /g, [' / ']],
    [/ \/ /g, [' * ']],
    [/ <= /g, [' < ']],
    [/ >= /g, [' > ']],
    [/ < /g, [' <= ']],
    [/ > /g, [' >= ']],
    [/ == /g, [' != ']],
    [/ != /g, [' == ']],
    [/ && /g, [' || ']],
    [/ \|\| /g, [' && ']],
    [/\bmin\(/g, ['max(']],
    [/\bmax\(/g, ['min(']],
    [/\bceil\(/g, ['(']],
    [/(?<![\w.'{[])\d[\d']*(?:\.\d+)?(?:e-?\d+)?(?![\w.'\]])/g, ['#']],
];
const changedNumber = (text) => {
    const number = Number(text.replaceAll("'", ''));
    if (number === 0) return '1';
    return /^\d+$/.test(text.replaceAll("'", '')) ? String(number + 1) : String(number * 1.25);
};
function sites(file) {
    const text = readFileSync(join(root, 'core', file), 'utf8');
    const code = isCode(text);
    const found = [];
    for (const [pattern, replacements] of OPERATORS) {
        for (const match of text.matchAll(pattern)) {
            if (!code[match.index + (match[0].startsWith(' ') ? 1 : 0)]) continue;
            for (const replacement of replacements)
                found.push({ file, at: match.index, was: match[0], now: replacement === '#' ? changedNumber(match[0]) : replacement });
        }
    }
    return found;
}

// ---- a copy of the tree, and what is built from it
const copy = join(root, 'build/mutate/tree');
const build = join(root, 'build/mutate/build');
rmSync(copy, { recursive: true, force: true });
mkdirSync(copy, { recursive: true });
for (const name of ['CMakeLists.txt', 'core', 'tests', 'wasm', 'web/src/native', 'third_party']) {
    try {
        cpSync(join(root, name), join(copy, name), { recursive: true, preserveTimestamps: true }); // what was built before is up to date
    } catch (error) {
        if (name !== 'third_party') throw error;
    }
}
// The last file that was changed, in this run or in one before: what was built from it may be a mutant's.
const marker = join(root, 'build/mutate/changed');
if (existsSync(marker)) utimesSync(join(copy, 'core', readFileSync(marker, 'utf8')), new Date(), new Date());
// Killed, not asked: doctest catches the signal that asks, and may wait in its handler for ever.
const run = (command, args, timeout) => spawnSync(command, args, { encoding: 'utf8', timeout, killSignal: 'SIGKILL', maxBuffer: 1e9 });
const make = (timeout = 900_000) => run('cmake', ['--build', build, '--target', 'fourfold_by_hand'], timeout);
const passes = () =>
    run(join(build, 'tests/fourfold_by_hand'), [`--test-case-exclude=${MEASURED.join(',')}`, '--minimal', '--abort-after=1'], 900_000).status === 0;

const configured = run('cmake', ['-G', 'Ninja', '-S', copy, '-B', build, '-DCMAKE_BUILD_TYPE=None', '-DCMAKE_CXX_FLAGS=-O1'], 60_000);
if (configured.status !== 0) throw new Error(configured.stderr);
const first = make(7_200_000); // all of it, on a busy machine
if (first.status !== 0) throw new Error(first.stdout.slice(-3000));
if (!passes()) throw new Error('The tests fail without any mutant.');

// ---- the mutants, drawn by a generator of our own, so that a seed says which they are
let state = BigInt(options.seed) * 2654435761n + 1n;
const random = (below) => {
    state = (state * 6364136223846793005n + 1442695040888963407n) & ((1n << 64n) - 1n);
    return Number((state >> 33n) % BigInt(below));
};
const files = ROOMS.flatMap((room) => readdirSync(join(root, 'core', room)).map((name) => `${room}/${name}`)).filter(
    (name) => /\.(cpp|h)$/.test(name) && name.includes(options.only),
);
const all = files.flatMap(sites);
const wanted = Math.min(Number(options.count), all.length);
console.log(`${all.length} places in ${files.length} files; ${wanted} are tried`);
let died = 0;
let tried = 0;
const survivors = [];
while (tried < wanted && all.length > 0) {
    const { file, at, was, now } = all.splice(random(all.length), 1)[0];
    const path = join(copy, 'core', file);
    const text = readFileSync(path, 'utf8');
    writeFileSync(marker, file);
    writeFileSync(path, text.slice(0, at) + now + text.slice(at + was.length));
    if (make().status === 0) {
        ++tried;
        if (passes()) {
            const line = text.slice(0, at).split('\n').length;
            survivors.push(`core/${file}:${line}: "${was.trim()}" -> "${now.trim()}"   ${text.split('\n')[line - 1].trim()}`);
            console.log(`survived  ${survivors.at(-1)}`);
        } else ++died;
        if (tried % 25 === 0) console.log(`${died} of ${tried} died so far`);
    }
    writeFileSync(path, text);
}
const share = (100 * died) / tried;
console.log(`${died} of ${tried} mutants died: ${share.toFixed(1)} %`);
process.exitCode = share >= Number(options['at-least']) ? 0 : 1;
