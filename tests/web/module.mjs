// The module that is shipped, loaded in Node. It is built for browsers only; handing it the compiled WebAssembly is all that it
// needs to run here, so that the tests see the very file that users get.
import { readFileSync } from 'node:fs';

export const root = new URL('../../', import.meta.url);
const folder = new URL('build/wasm/wasm/', root);
export const wasmFile = new URL('fourfold.wasm', folder);

export async function loadModule() {
    const { default: create } = await import(new URL('fourfold.mjs', folder));
    const code = new WebAssembly.Module(readFileSync(wasmFile));
    return create({
        instantiateWasm(imports, done) {
            const instance = new WebAssembly.Instance(code, imports);
            done(instance, code);
            return instance.exports;
        },
    });
}
