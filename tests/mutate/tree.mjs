// The copy of the tree with all mutants, below build/mutate, and what is built from it. A few places cannot stand in it, such as the size
// of an array: they are `apart`. The compiler's errors say which; that is kept until a file changes.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withMutants } from './one_binary.mjs';
import { ROOMS } from './sites.mjs';

export const root = fileURLToPath(new URL('../..', import.meta.url));
export const binary = join(root, 'build/mutate/build/tests/fourfold_by_hand');
const tree = join(root, 'build/mutate/tree');
const build = join(root, 'build/mutate/build');
const kept = join(root, 'build/mutate/apart.json');

const env = { ...process.env, LC_ALL: 'C' }; // errors are read
const run = (command, args) => spawnSync('nice', [command, ...args], { encoding: 'utf8', cwd: build, env, maxBuffer: 1e9 });

// ---- the copy
function write(files, apart, applied) {
    for (const room of ROOMS) {
        mkdirSync(join(tree, 'core', room), { recursive: true });
        for (const name of readdirSync(join(tree, 'core', room))) // of a file that is no more
            if (!files.some((file) => file.name === `${room}/${name}`)) rmSync(join(tree, 'core', room, name));
    }
    for (const file of files) {
        const path = join(tree, 'core', file.name);
        const text = withMutants(file, apart, applied);
        if (!existsSync(path) || readFileSync(path, 'utf8') !== text) writeFileSync(path, text);
    }
}
// What has no mutant is a link to the tree itself, and as old as that: what was built from it before is up to date.
function linkTheRest() {
    const names = readdirSync(join(root, 'core')).filter((name) => !ROOMS.includes(name));
    for (const name of ['CMakeLists.txt', 'tests', 'wasm', 'web/src/native', 'third_party', ...names.map((name) => join('core', name))]) {
        const path = join(tree, name);
        if (lstatSync(path, { throwIfNoEntry: false })) rmSync(path);
        if (!existsSync(join(root, name))) continue;
        mkdirSync(dirname(path), { recursive: true });
        symlinkSync(join(root, name), path);
    }
}
function configure() {
    mkdirSync(build, { recursive: true });
    const flags = `-O1 -w -I${join(root, 'tests/mutate')}`;
    const kind = ['-DCMAKE_BUILD_TYPE=None', '-DCMAKE_UNITY_BUILD=ON', '-DCMAKE_EXPORT_COMPILE_COMMANDS=ON', `-DCMAKE_CXX_FLAGS=${flags}`];
    const configured = run('cmake', ['-G', 'Ninja', '-S', tree, '-B', build, ...kind]);
    if (configured.status !== 0) throw new Error(configured.stderr);
}

// ---- the compiler
const make = () =>
    run('cmake', ['--build', build, '--target', 'fourfold_by_hand', '--parallel', String(availableParallelism()), '--', '-k', '0']);
// The errors of the two rooms' own files, which come before anything is built.
function errorsOfRooms() {
    const commands = JSON.parse(readFileSync(join(build, 'compile_commands.json'), 'utf8'));
    const ofRooms = commands.filter(({ file }) => /\/core\//.test(file) && ROOMS.some((room) => file.match(`/(unity_)?${room}(_cxx|/)`)));
    return ofRooms.map(({ command }) => run('sh', ['-c', command.replace(/ -o \S+/, ' -fsyntax-only')]).stderr).join('');
}
// The sites that errors are about: those that a message names, else those in the line where a constant got its value, else those in the
// line of the error.
function sitesNamed(errors, apart) {
    const inLines = (kind) =>
        [...errors.matchAll(new RegExp(`core/((?:${ROOMS.join('|')})/\\w+\\.\\w+):(\\d+):\\d+: ${kind}`, 'g'))].flatMap(
            ([, path, line]) => {
                const text = readFileSync(join(tree, 'core', path), 'utf8').split('\n')[Number(line) + 1]; // two lines of ours come first
                return [...text.matchAll(/::mutants::\w+<(\d+)>/g)];
            },
        );
    const ways = [
        () => [...errors.matchAll(/error: .*\bint id = (\d+)/g)],
        () => inLines('note: .* was not initialized'),
        () => inLines('error'),
    ];
    const found = ways.map((way) =>
        way()
            .map((match) => Number(match[1]))
            .filter((id) => !apart.has(id)),
    );
    return found.find((ids) => ids.length > 0) ?? [];
}

// Writes and builds the copy; answers with the ids of the sites apart. What is known of a file holds until it or our rules change.
export function buildAll(files) {
    const rules = ['mutants.h', 'one_binary.mjs', 'sites.mjs'].map((name) => readFileSync(join(root, 'tests/mutate', name), 'utf8'));
    const keyOf = ({ text }) => createHash('sha256').update(rules.join()).update(text).digest('hex');
    const before = existsSync(kept) ? JSON.parse(readFileSync(kept, 'utf8')) : {};
    const isKnown = (file) => before[file.name]?.key === keyOf(file);
    const knownApart = (file) => (isKnown(file) ? file.sites.filter(({ at }) => before[file.name].apart.includes(at)) : []);
    const apart = new Set(files.flatMap(knownApart).map(({ id }) => id));
    const setApart = (errors) => {
        const ids = sitesNamed(errors, apart);
        for (const id of ids) apart.add(id);
        write(files, apart);
        return ids.length > 0;
    };
    write(files, apart);
    linkTheRest();
    configure();
    if (!files.every(isKnown)) while (setApart(errorsOfRooms()));
    for (let made = make(); made.status !== 0; made = make()) if (!setApart(made.stdout)) throw new Error(made.stdout.slice(-3000));
    const ofFile = (file) => ({ key: keyOf(file), apart: file.sites.filter(({ id }) => apart.has(id)).map(({ at }) => at) });
    writeFileSync(kept, JSON.stringify(Object.fromEntries(files.map((file) => [file.name, ofFile(file)]))));
    return apart;
}

// Builds the copy with one of the sites apart made in it, or again without; false where it does not compile.
export function buildWith(files, apart, site) {
    write(files, apart, site);
    return make().status === 0;
}
