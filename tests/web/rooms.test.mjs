// The shape of the code: includes in core/ go one way, in the order of core/README.md; web/src/ has no circle of imports; the top level holds
// what belongs there alone.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const files = (folder, ending) =>
    readdirSync(join(root, folder), { recursive: true })
        .filter((name) => ending.test(name))
        .map((name) => join(folder, name));
const text = (file) => readFileSync(join(root, file), 'utf8');

test('an include in core/ names a room at or above its own in core/README.md', () => {
    const order = [...text('core/README.md').matchAll(/^\| `(\w+)\/` \|/gm)].map(([, room]) => room);
    assert.ok(order.length >= 10, 'core/README.md lists the rooms');
    const rank = (room) => (order.includes(room) ? order.indexOf(room) : order.length);
    const wrong = [];
    for (const file of files('core', /\.(h|cpp)$/)) {
        const room = file.split('/').length > 2 ? file.split('/')[1] : '';
        if (room !== '') assert.ok(order.includes(room), `core/README.md says nothing of ${room}/`);
        for (const [, included] of text(file).matchAll(/^#include "([^"]+)"/gm)) {
            const to = included.includes('/') ? included.split('/')[0] : '';
            if (rank(to) > rank(room)) wrong.push(`${file} includes ${included}`);
        }
    }
    assert.deepEqual(wrong, []);
});

// A room is one file for the compiler, where each file sees what the others include: a reader and the debug build take them one by one.
test('a file of core/ or tests/ includes the header of each type and constant that it names', () => {
    const read = (file) => {
        const all = text(file);
        const code = all.replace(/R"(\w*)\([^]*?\)\1"|"(?:[^"\\\n]|\\.)*"|\/\/.*|\/\*[^]*?\*\//g, '');
        return {
            included: [...all.matchAll(/^#include "([^"]+)"/gm)].map(([, path]) => [join('core', path), join('tests', path)]),
            words: new Set(code.match(/(?<![.>:])\b[A-Za-z]\w*/g)),
            types: [...code.matchAll(/^(?:struct|class|enum class) (\w+)[^;(]*\{/gm)].map(([, name]) => name),
            constants: [...code.matchAll(/^(?:inline |static )?constexpr [^;]*;/gm)].flatMap(([line]) => line.match(/\bk[A-Z]\w*(?= =|\[)/g) ?? []),
            declares: new Set([...code.matchAll(/\b(?:struct|class|using|enum) (\w+)|\b(k[A-Z]\w*)(?= =|\[|\{)/g)].map(([, type, value]) => type ?? value)),
        };
    };
    const sources = new Map([...files('core', /\.(h|cpp)$/), ...files('tests', /\.(h|cpp)$/)].map((file) => [file, read(file)]));
    const reached = (file, all = new Set()) => {
        all.add(file);
        for (const paths of sources.get(file).included) {
            const path = paths.find((one) => sources.has(one));
            if (path && !all.has(path)) reached(path, all);
        }
        return all;
    };
    const homes = new Map();
    for (const [file, { types, constants }] of sources)
        if (file.startsWith('core')) for (const name of file.endsWith('.h') ? [...types, ...constants] : constants) homes.set(name, file);
    assert.ok(homes.size > 200, `${homes.size} names`);
    const missing = [];
    for (const [file, { words }] of sources) {
        const seen = [...reached(file)];
        const named = [...words].filter((word) => homes.has(word) && !seen.some((one) => one === homes.get(word) || sources.get(one).declares.has(word)));
        missing.push(...named.map((name) => `${file}: ${name} of ${homes.get(name)}`));
    }
    assert.deepEqual(missing, []);
});

test('web/src/ has no circle of imports', () => {
    const sources = new Set(files('web/src', /\.tsx?$/));
    const imports = new Map();
    for (const file of sources) {
        const found = [...text(file).matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(([, path]) => normalize(join(dirname(file), path)));
        imports.set(
            file,
            found.map((path) => [path, `${path}.ts`, `${path}.tsx`, `${path}/index.ts`].find((name) => sources.has(name))).filter(Boolean),
        );
    }
    const state = new Map();
    const circles = [];
    const visit = (file, trail) => {
        if (state.get(file) === 'done') return;
        if (state.get(file) === 'open') {
            circles.push([...trail.slice(trail.indexOf(file)), file].map((name) => relative('web/src', name)).join(' -> '));
            return;
        }
        state.set(file, 'open');
        for (const next of imports.get(file)) visit(next, [...trail, file]);
        state.set(file, 'done');
    };
    for (const file of sources) visit(file, []);
    assert.deepEqual(circles, []);
});

test('the top level of the repository holds what belongs there alone', (context) => {
    let tracked;
    try {
        tracked = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8', maxBuffer: 1e8 });
    } catch {
        return context.skip('no checkout of git');
    }
    const belongs = new Set([
        ...['.ci', '.clang-format', '.clang-tidy', '.github', '.gitignore', 'CHANGELOG.md', 'CMakeLists.txt', 'CMakePresets.json', 'LICENSE'],
        ...['README.md', 'check', 'core', 'serve', 'tests', 'wasm', 'web'],
    ]);
    const found = new Set(tracked.split('\0').filter(Boolean).map((file) => file.split('/')[0]));
    assert.deepEqual([...found].filter((name) => !belongs.has(name)), []);
});
