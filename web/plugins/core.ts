// The module that CMake built (cmake --workflow --preset wasm), for whatever is made of it when the page is built.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Plugin } from 'vite';
import type { Fourfold } from '../src/core/api';
import { instantiate } from '../src/core/instantiate.ts';

export const root = fileURLToPath(new URL('..', import.meta.url));
export const coreFolder = fileURLToPath(new URL('../../build/wasm/wasm/', import.meta.url));
export const glue = `${coreFolder}fourfold.mjs`;
export const wasm = `${coreFolder}fourfold.wasm`;
export const moreWasm = `${coreFolder}fourfold_more.wasm`; // its second file: wasm/split.mjs
// The second module, which reads the configurations of others.
export const formatsGlue = `${coreFolder}fourfold_formats.mjs`;
export const formatsWasm = `${coreFolder}fourfold_formats.wasm`;

export async function loadCore(): Promise<Fourfold> {
    const { default: create } = await import(pathToFileURL(glue).href);
    const [first, more] = [wasm, moreWasm].map((file) => new WebAssembly.Module(readFileSync(file))) as [
        WebAssembly.Module,
        WebAssembly.Module,
    ];
    const { functions, add } = await instantiate<Fourfold>(create, first);
    await add(more);
    return functions;
}

// The page hands the compiled module over (instantiateWasm). So the glue must not pull the file in by its name, and the minifier need not keep
// what finds and fetches it. Where another Emscripten writes it in another way, that part stays.
const KNOWN: readonly [text: RegExp, known: string][] = [
    [/new URL\("fourfold(_formats)?\.wasm",\s*import\.meta\.url\)(\.toString\(\)|\.href)/, '""'],
    [/ENVIRONMENT_IS_WEB\|\|ENVIRONMENT_IS_WORKER/g, 'false'],
    [/if\(Module\["instantiateWasm"\]\)/, 'if(true)'],
    [/if\(Module\["locateFile"\]\)/, 'if(false)'],
];
export const bareGlue: Plugin = {
    name: 'bare-glue',
    transform(code, id) {
        if (id !== glue && id !== formatsGlue) return null;
        return KNOWN.reduce((text, [found, known]) => text.replace(found, known), code);
    },
};

export interface Asset {
    fileName: string;
    source: string | Uint8Array;
}
export const asset = (name: string, end: string, source: Asset['source']): Asset => ({
    fileName: `assets/${name}-${createHash('sha256').update(source).digest('base64url').slice(0, 8)}.${end}`,
    source,
});

export const moduleAsset = (): Asset => asset('fourfold', 'wasm', readFileSync(wasm));
