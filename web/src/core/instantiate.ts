// An instance of a compiled module. Its glue is told the code, so that it never looks for the file itself.
type Instantiate = (
    imports: WebAssembly.Imports,
    done: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
) => WebAssembly.Exports | Record<string, never>;
export interface Options {
    instantiateWasm: Instantiate;
}
export type Create<Functions> = (options: Options) => Promise<Functions>;

export interface Instance<Functions> {
    functions: Functions;
    add(second: WebAssembly.Module): Promise<void>; // the module's second file (wasm/split.mjs), for the functions that need it
}

// Thrown in the places of what the second file has. The instance may be left in any state: never ask it again.
export class SecondLacks extends Error {}
const missing = (): never => {
    throw new SecondLacks();
};
const placeholder = new Proxy({}, { get: () => missing });

export async function instantiate<Functions>(create: Create<Functions>, module: WebAssembly.Module): Promise<Instance<Functions>> {
    let primary: WebAssembly.Exports = {};
    const functions = await new Promise<Functions>((resolve, reject) => {
        const instantiateWasm: Instantiate = (imports, done) => {
            WebAssembly.instantiate(module, { ...imports, placeholder }).then((instance) => {
                primary = instance.exports;
                done(instance, module);
            }, reject);
            return {};
        };
        create({ instantiateWasm }).then(resolve, reject);
    });
    return {
        functions,
        async add(second) {
            await WebAssembly.instantiate(second, { primary });
        },
    };
}
