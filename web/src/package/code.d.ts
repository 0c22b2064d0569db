// The compiled modules: read from the disk by Node (code-node.ts), fetched by a page (code-web.ts). The package's "imports" says which.
declare module '#code' {
    export const compiled: () => Promise<WebAssembly.Module>;
    export const compiledMore: () => Promise<WebAssembly.Module>;
    export const compiledFormats: () => Promise<WebAssembly.Module>;
}
