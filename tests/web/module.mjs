// The module that is shipped, loaded in Node. It is built for browsers only; handing it the compiled WebAssembly is all that it
// needs to run here, so that the tests see the very file that users get.
import { readFileSync } from 'node:fs';

export const root = new URL('../../', import.meta.url);
const folder = new URL('build/wasm/wasm/', root);
const NAMES = ['fourfold', 'fourfold_formats'];
export const wasmFiles = NAMES.map((name) => new URL(`${name}.wasm`, folder));

async function load(name) {
    const { default: create } = await import(new URL(`${name}.mjs`, folder));
    const code = new WebAssembly.Module(readFileSync(new URL(`${name}.wasm`, folder)));
    return create({
        instantiateWasm(imports, done) {
            const instance = new WebAssembly.Instance(code, imports);
            done(instance, code);
            return instance.exports;
        },
    });
}

// With the functions of the second module, so that a test finds all of api.h in one place.
export async function loadModule() {
    const [core, { import_plan, export_plan, read_run }] = await Promise.all(NAMES.map(load));
    return Object.assign(core, { import_plan, export_plan, read_run });
}
