// The module that CMake builds (see coreFolder in vite.config.ts).
declare module 'fourfold-core' {
    import type { Fourfold } from './api';

    interface Options {
        instantiateWasm(
            imports: WebAssembly.Imports,
            done: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
        ): WebAssembly.Exports | Record<string, never>;
    }
    export default function create(options: Options): Promise<Fourfold>;
}
