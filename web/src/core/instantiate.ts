// An instance of the compiled module. The glue is told the code, so that it never looks for the file itself.
import createModule from 'fourfold-core';
import type { Fourfold } from './api';

export function instantiate(module: WebAssembly.Module): Promise<Fourfold> {
    return new Promise((resolve, reject) => {
        const instantiateWasm = (
            imports: WebAssembly.Imports,
            done: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
        ) => {
            WebAssembly.instantiate(module, imports).then((instance) => done(instance, module), reject);
            return {};
        };
        createModule({ instantiateWasm }).then(resolve, reject);
    });
}
