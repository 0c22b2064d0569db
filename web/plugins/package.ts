// What the package has beside its scripts: the module as the page gets it, types from the contract, package.json, README, licence.
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';
import { formatsGlue, formatsWasm, glue, moreWasm, root, wasm } from './core.ts';

const top = fileURLToPath(new URL('../../', import.meta.url));
const emitted = `${top}build/package-types/`;

// The package has the version of the library.
export function coreVersion(): string {
    const version = /project\(fourfold VERSION ([\d.]+)/.exec(readFileSync(`${top}CMakeLists.txt`, 'utf8'))?.[1];
    if (!version) throw new Error('CMakeLists.txt says no version');
    return version;
}

const description = (version: string): object => ({
    name: 'fourfold',
    version,
    description: 'Does an LLM training run fit its GPUs, which parallel plan is fastest, how long does it take, what does it cost?',
    license: 'MIT',
    type: 'module',
    engines: { node: '>=20' },
    exports: { '.': { types: './types/package/index.d.ts', default: './index.js' }, './fourfold.wasm': './fourfold.wasm' },
    types: './types/package/index.d.ts',
    imports: {
        '#core': './fourfold.mjs',
        '#formats': './fourfold_formats.mjs',
        '#code': { node: './code-node.js', default: './code-web.js' },
    },
    bin: { fourfold: 'cli.js' },
    sideEffects: false,
    files: ['*.js', 'licenses.md', 'lib', 'types', 'fourfold*.mjs', 'fourfold*.wasm'],
});

// ---- types
const IMPORTED = /(?<=from ')(\.{1,2}\/[^']+)(?=')/g;

// The contract is types alone: its source says more than what a compiler makes of it.
const sourceOf = (name: string): string => readFileSync(name === 'core/api' ? `${root}src/${name}.ts` : `${emitted}${name}.d.ts`, 'utf8');

// From the door, what it names and what that names. Node wants an ending behind each name.
function writeTypes(name: string, to: string, written = new Set<string>()): void {
    if (written.has(name)) return;
    written.add(name);
    const text = sourceOf(name);
    const file = join(to, `${name}.d.ts`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(
        file,
        text.replace(IMPORTED, (path) => `${path}.js`),
    );
    for (const [path] of text.matchAll(IMPORTED)) writeTypes(relative('/', join('/', dirname(name), path)), to, written);
}

function types(to: string): void {
    rmSync(emitted, { recursive: true, force: true });
    execFileSync(process.execPath, [`${root}node_modules/typescript/bin/tsc`, '-p', `${root}tsconfig.package.json`], { stdio: 'inherit' });
    writeTypes('package/index', to);
    rmSync(emitted, { recursive: true });
}

export const npmPackage = (): Plugin => ({
    name: 'npm-package',
    writeBundle({ dir }) {
        if (!dir) return;
        const to = (name: string): string => join(dir, name);
        for (const file of [glue, wasm, moreWasm, formatsGlue, formatsWasm]) {
            copyFileSync(file, to(basename(file)));
            chmodSync(to(basename(file)), 0o644);
        }
        copyFileSync(`${top}LICENSE`, to('LICENSE'));
        copyFileSync(`${root}src/package/README.md`, to('README.md'));
        writeFileSync(to('cli.js'), `#!/usr/bin/env node\n${readFileSync(to('cli.js'), 'utf8')}`);
        chmodSync(to('cli.js'), 0o755);
        writeFileSync(to('package.json'), `${JSON.stringify(description(coreVersion()), null, 4)}\n`);
        if (!existsSync(to('types'))) types(to('types'));
    },
});
