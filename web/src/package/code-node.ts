import { readFile } from 'node:fs/promises';

export const compiled = async (): Promise<WebAssembly.Module> =>
    WebAssembly.compile(await readFile(new URL('./fourfold.wasm', import.meta.url)));
