import { readFile } from 'node:fs/promises';

const compile = async (address: URL): Promise<WebAssembly.Module> => WebAssembly.compile(await readFile(address));

export const compiled = (): Promise<WebAssembly.Module> => compile(new URL('./fourfold.wasm', import.meta.url));
export const compiledMore = (): Promise<WebAssembly.Module> => compile(new URL('./fourfold_more.wasm', import.meta.url));
export const compiledFormats = (): Promise<WebAssembly.Module> => compile(new URL('./fourfold_formats.wasm', import.meta.url));
