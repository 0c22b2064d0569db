// The modules that CMake builds (see plugins/core.ts).
declare module 'fourfold-core' {
    export default function create(options: import('./instantiate').Options): Promise<import('./api').Fourfold>;
}
declare module 'fourfold-formats' {
    type Functions = Pick<import('./api').Fourfold, 'import_plan' | 'export_plan' | 'find_models' | 'read_run' | 'read_links'>;
    export default function create(options: import('./instantiate').Options): Promise<Functions>;
}
declare module 'fourfold-more.wasm?url' {
    const address: string;
    export default address;
}
declare module 'fourfold-formats.wasm?url' {
    const address: string;
    export default address;
}
// Code in base64, for the page in one file (plugins/single.ts).
declare module 'virtual:second-code' {
    const code: string;
    export default code;
}
declare module 'virtual:reader-code' {
    const code: string;
    export default code;
}
