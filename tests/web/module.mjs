// The module that is shipped, loaded in Node. It is built for browsers only; handing it the compiled WebAssembly is all that it
// needs to run here, so that the tests see the very files that users get.
import { readFileSync } from 'node:fs';

export const root = new URL('../../', import.meta.url);
const folder = new URL('build/wasm/wasm/', root);
export const wasmFiles = ['fourfold', 'fourfold_more', 'fourfold_formats'].map((name) => new URL(`${name}.wasm`, folder));
const [first, more, formats] = wasmFiles;

const compiled = (file) => new WebAssembly.Module(readFileSync(file));

async function load(name, file, second) {
    const { default: create } = await import(new URL(`${name}.mjs`, folder));
    const code = compiled(file);
    return create({
        instantiateWasm(imports, done) {
            const missing = (_, index) => () => {
                throw new Error(`function ${index} is in the second file`);
            };
            const instance = new WebAssembly.Instance(code, { ...imports, placeholder: new Proxy({}, { get: missing }) });
            if (second) new WebAssembly.Instance(compiled(second), { primary: instance.exports });
            done(instance, code);
            return instance.exports;
        },
    });
}

// What the first file answers alone.
export const loadFirst = () => load('fourfold', first);

// With the functions of the other module, so that a test finds all of api.h in one place.
export async function loadModule() {
    const [core, { import_plan, export_plan, find_models, read_run, read_links }] = await Promise.all([load('fourfold', first, more), load('fourfold_formats', formats)]);
    return Object.assign(core, { import_plan, export_plan, find_models, read_run, read_links });
}
