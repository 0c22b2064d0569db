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

// The glue names its .wasm file beside it; the page hands the compiled module over instead, so that name must not pull the file in again.
export const bareGlue: Plugin = {
    name: 'bare-glue',
    transform(code, id) {
        if (id !== glue && id !== formatsGlue) return null;
        return code.replace(/new URL\("fourfold(_formats)?\.wasm",\s*import\.meta\.url\)(\.toString\(\)|\.href)/, '""');
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
