import { readFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { defineConfig, type Plugin, runnerImport } from 'vite';
import type { Fourfold } from './src/api';

// Where CMake puts the module: cmake --workflow --preset wasm
const coreFolder = fileURLToPath(new URL('../build/wasm/wasm/', import.meta.url));
const glue = `${coreFolder}fourfold.mjs`;
const wasm = `${coreFolder}fourfold.wasm`;

const contentSecurityPolicy = [
    "default-src 'none'",
    "script-src 'self' 'wasm-unsafe-eval'",
    "worker-src 'self'",
    "connect-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
].join('; ');

async function loadCore(): Promise<Fourfold> {
    const { default: create } = await import(pathToFileURL(glue).href);
    const module = new WebAssembly.Module(readFileSync(wasm));
    return create({
        instantiateWasm(imports: WebAssembly.Imports, done: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void) {
            const instance = new WebAssembly.Instance(module, imports);
            done(instance, module);
            return instance.exports;
        },
    });
}

// The glue names its .wasm file beside it; the page hands the compiled module over instead, so that name must not pull the file in again.
const bareGlue: Plugin = {
    name: 'bare-glue',
    transform(code, id) {
        if (id !== glue) return null;
        return code.replace(/new URL\("fourfold\.wasm",\s*import\.meta\.url\)(\.toString\(\)|\.href)/, '""');
    },
};

// Fills index.html: texts and the finished example always, the policy in the built page only (the development server injects styles).
const fillPage: Plugin = {
    name: 'fill-page',
    transformIndexHtml: {
        order: 'pre',
        async handler(html, { server }) {
            const { module } = await runnerImport<typeof import('./src/prerender')>(
                fileURLToPath(new URL('src/prerender.tsx', import.meta.url)),
                {
                    configFile: false,
                    root: fileURLToPath(new URL('.', import.meta.url)),
                },
            );
            const texts = module.prerender(await loadCore());
            const filled = html.replace(/%([A-Z]+)%/g, (_, key: string) =>
                key === 'APP' ? (texts.APP ?? '') : escapeText(texts[key] ?? ''),
            );
            if (server) return filled;
            return {
                html: filled,
                tags: [
                    {
                        tag: 'meta',
                        attrs: { 'http-equiv': 'Content-Security-Policy', content: contentSecurityPolicy },
                        injectTo: 'head-prepend',
                    },
                ],
            };
        },
    },
};
const escapeText = (text: string): string => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/"/g, '&quot;');

export default defineConfig({
    base: './',
    plugins: [bareGlue, fillPage],
    resolve: {
        alias: [
            { find: 'fourfold-core.wasm?url', replacement: `${wasm}?url` },
            { find: /^fourfold-core$/, replacement: glue },
        ],
    },
    server: { fs: { allow: ['.', coreFolder] } },
    worker: { format: 'es', plugins: () => [bareGlue] },
    build: { target: 'es2022', assetsInlineLimit: 0, modulePreload: { polyfill: false } },
});
