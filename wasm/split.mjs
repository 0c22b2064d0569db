// Parts a linked module: what answers the functions named stays, every other function goes into a second file that is loaded after it.
//   node split.mjs <folder of Binaryen's tools> <module.wasm> <second.wasm> <function of the face>…
// What an answer may need is found without running it: every call, and behind a call through the table every function of that type. The face's
// other functions are called from JavaScript alone, by name; whoever calls one loads the second file first (web/src/core/instantiate.ts).
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const [tools, module, second, ...kept] = process.argv.slice(2);
const FEATURES = ['--enable-bulk-memory', '--enable-mutable-globals'];
const folder = mkdtempSync(join(tmpdir(), 'split-'));
const at = (name) => join(folder, name);
const run = (tool, ...args) => execFileSync(join(tools, tool), [...FEATURES, ...args], { stdio: ['ignore', 'inherit', 'inherit'] });

// ---- the text of the module
const typeOf = (text) =>
    ['param', 'result'].map((part) => [...text.matchAll(new RegExp(`\\(${part} (?:\\$\\S+ )?([a-z0-9 ]+)\\)`, 'g'))].map(([, types]) => types).join(' ')).join('>');

function read(text) {
    const types = new Map([...text.matchAll(/^ \(type (\$\S+) (\(func.*)\)$/gm)].map(([, name, type]) => [name, typeOf(type)]));
    const functions = new Map();
    for (const [, name, head, body] of text.matchAll(/^ \(func (\S+)(.*)\n([^]*?)^ \)$/gm)) {
        const calls = new Set([...body.matchAll(/\((?:return_)?call ([^\s)]+)/g)].map(([, called]) => called));
        const through = new Set([...body.matchAll(/_indirect (?:\S+ )?\(type ([^\s)]+)\)/g)].map(([, type]) => types.get(type)));
        functions.set(name, { type: typeOf(head), calls, through });
    }
    const names = (pattern) => [...text.matchAll(pattern)].flatMap(([, list]) => list.split(/[ )]+/).filter((name) => functions.has(name)));
    return { functions, table: names(/^ \(elem [^$]*(\$.*)\)$/gm), doors: names(/^ \(export .*\(func (\S+)\)\)$/gm) };
}

// ---- what stays
// What JavaScript calls the face through is asked for when the module starts.
const isBinding = (name) => name.includes('emscripten::internal::');

function needed({ functions, table, doors }, isClosed) {
    const found = new Set(), types = new Set();
    const todo = [...doors, ...table.filter(isBinding)];
    while (todo.length > 0) {
        const name = todo.pop();
        if (found.has(name) || !functions.has(name) || isClosed(name)) continue;
        found.add(name);
        const { calls, through } = functions.get(name);
        todo.push(...calls);
        for (const type of through) {
            if (types.has(type)) continue;
            types.add(type);
            todo.push(...table.filter((one) => functions.get(one).type === type));
        }
    }
    return found;
}

try {
    run('wasm-dis', module, '-o', at('text'));
    const text = read(readFileSync(at('text'), 'utf8'));
    const faces = [...text.functions.keys()].filter((name) => name.includes('face::')); // as bindings.cpp calls them
    const open = faces.filter((name) => kept.some((one) => new RegExp(`::${one}\\\\28`).test(name)));
    if (open.length !== kept.length) throw new Error(`${kept} were looked for, found: ${open}. Is the module linked with --profiling-funcs?`);
    const stays = needed(text, (name) => faces.includes(name) && !open.includes(name));
    writeFileSync(at('stays'), [...stays].map((name) => name.slice(1)).join('\n'));
    run('wasm-split', module, `--keep-funcs=@${at('stays')}`, '-o1', at('first'), '-o2', at('second'), '--export-prefix=%');
    // what was one file can be made smaller once it is two; loops that are laid out anew, twice, repeat less: together 2 KB of 216
    const again = ['--flatten', '--rereloop', '-Oz', '-Oz'];
    run('wasm-opt', '--strip-debug', '--strip-producers', ...again, ...again, at('first'), '-o', module);
    run('wasm-opt', '--strip-debug', '--strip-producers', ...again, ...again, at('second'), '-o', second);
} finally {
    rmSync(folder, { recursive: true });
}
