// Parts a linked module: the functions that answer what is asked first (asked.mjs) stay, every other one goes into a second file that is loaded
// after it. Who calls one of those before has to wait for that file, and to ask again in an instance that has it (web/src/core/client.ts).
//   node split.mjs <folder of Binaryen's tools> <module> <module of the second file>       without their .wasm
// Which functions these are is seen by running them: the module, made to note what it runs, is asked.
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { firstAsked } from './asked.mjs';

const [tools, module, second] = process.argv.slice(2);
const FEATURES = ['--enable-bulk-memory', '--enable-mutable-globals'];
const PROFILE = '__profile';
const folder = mkdtempSync(join(tmpdir(), 'split-'));
const at = (name) => join(folder, name);
const run = (tool, ...args) => execFileSync(join(tools, tool), [...FEATURES, ...args], { stdio: ['ignore', 'inherit', 'inherit'] });

// The names of the functions, in their order.
function namesOf(file) {
    run('wasm-dis', file, '-o', at('text'));
    return [...readFileSync(at('text'), 'utf8').matchAll(/^ \(func (\$\S+)/gm)].map(([, name]) => name.slice(1));
}

// Of each function, when it was first run; 0: never. (What wasm-split writes down: 8 bytes that tell the module, then 4 for each.)
async function firstRuns(file) {
    const code = new WebAssembly.Module(readFileSync(file));
    const { default: create } = await import(pathToFileURL(resolve(`${module}.mjs`)));
    let exports;
    const core = await create({
        instantiateWasm(imports, done) {
            const instance = new WebAssembly.Instance(code, imports);
            exports = instance.exports;
            done(instance, code);
            return exports;
        },
    });
    firstAsked(JSON.parse(core.catalog(false)), (request) => core.estimate(JSON.stringify(request)));
    const memory = Object.values(exports).find((one) => one instanceof WebAssembly.Memory);
    const bytes = exports[PROFILE](0, 0), begin = memory.buffer.byteLength;
    memory.grow(Math.ceil(bytes / 65_536));
    exports[PROFILE](begin, bytes);
    return new Uint32Array(memory.buffer, begin + 8, (bytes - 8) / 4);
}

// What stands in the first file's data between these words is read by functions of the second one alone.
const [FROM, TO] = ['(second:', ':second)'].map((word) => Buffer.from(word));
const [CONST, END, DATA] = [0x41, 0x0b, 0x0b]; // of the binary format

function readNumber(bytes, at, signed = false) {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
        const byte = bytes[at++];
        value += (byte & 0x7f) * 2 ** shift;
        if (byte < 0x80) return [signed && byte & 0x40 ? value - 2 ** (shift + 7) : value, at];
    }
}
function writeNumber(value, signed = false) {
    const bytes = [];
    for (; value >= (signed ? 0x40 : 0x80); value = Math.floor(value / 128)) bytes.push((value % 128) | 0x80);
    return Buffer.from([...bytes, value]);
}
const withSize = (bytes) => Buffer.concat([writeNumber(bytes.length), bytes]);

// Takes it out of the data, and gives it as a section of data for another module with the same memory.
function takeLater(file) {
    const bytes = readFileSync(file);
    const pieces = [];
    let at = 8;
    while (bytes[at] !== DATA) at = readNumber(bytes, at + 1).reduce((size, next) => size + next);
    let count;
    [count, at] = readNumber(bytes, readNumber(bytes, at + 1)[1]);
    for (; count > 0; --count) {
        if (bytes[at] !== 0 || bytes[at + 1] !== CONST) throw new Error('the data has no place of its own');
        const [address, after] = readNumber(bytes, at + 2, true);
        const [size, start] = readNumber(bytes, after + 1);
        at = start + size;
        for (let from; (from = bytes.subarray(start, at).indexOf(FROM)) >= 0; ) {
            const text = bytes.subarray(start + from, start + bytes.subarray(start, at).indexOf(TO) + TO.length);
            pieces.push(Buffer.concat([Buffer.from([0, CONST]), writeNumber(address + from, true), Buffer.from([END]), withSize(text)]));
            text.fill(0); // in `bytes`: rows of zeros are left out of the file
        }
    }
    if (pieces.length === 0) throw new Error('nothing is marked to come with the second file');
    writeFileSync(file, bytes);
    return Buffer.concat([Buffer.from([DATA]), withSize(Buffer.concat([writeNumber(pieces.length), ...pieces]))]);
}

// The glue holds on to these when the module starts, whether they are called or not: they may not come later.
const isBinding = (name) => name.includes('emscripten::internal::');

try {
    run('wasm-split', '--instrument', `--profile-export=${PROFILE}`, `${module}.wasm`, '-o', at('noting'));
    const names = namesOf(`${module}.wasm`), runs = await firstRuns(at('noting'));
    if (names.length !== runs.length) throw new Error(`${names.length} functions, of which ${runs.length} were noted`);
    const stays = names.filter((name, i) => runs[i] > 0 || isBinding(name));
    if (stays.length === 0 || !stays.some(isBinding)) throw new Error('the functions have no names: is the module linked with --profiling-funcs?');
    writeFileSync(at('stays'), stays.join('\n'));
    run('wasm-split', `${module}.wasm`, `--keep-funcs=@${at('stays')}`, '-o1', at('first'), '-o2', at('second'), '--export-prefix=%');
    const later = takeLater(at('first'));
    // what was one file can be made smaller once it is two; loops that are laid out anew, twice, repeat less: together 2 KB of 216
    const again = ['--flatten', '--rereloop', '-Oz', '-Oz'];
    run('wasm-opt', '--strip-debug', '--strip-producers', ...again, ...again, at('first'), '-o', `${module}.wasm`);
    run('wasm-opt', '--strip-debug', '--strip-producers', ...again, ...again, at('second'), '-o', `${second}.wasm`);
    appendFileSync(`${second}.wasm`, later); // its last section
} finally {
    rmSync(folder, { recursive: true });
}
