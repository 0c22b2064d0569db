// An instance of a compiled module. Its glue is told the code, so that it never looks for the file itself.
type Instantiate = (
    imports: WebAssembly.Imports,
    done: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
) => WebAssembly.Exports | Record<string, never>;
export interface Options {
    instantiateWasm: Instantiate;
}
export type Create<Functions> = (options: Options) => Promise<Functions>;

export function instantiate<Functions>(create: Create<Functions>, module: WebAssembly.Module): Promise<Functions> {
    return new Promise((resolve, reject) => {
        const instantiateWasm: Instantiate = (imports, done) => {
            WebAssembly.instantiate(module, imports).then((instance) => done(instance, module), reject);
            return {};
        };
        create({ instantiateWasm }).then(resolve, reject);
    });
}
