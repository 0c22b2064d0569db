import { compileModule } from '../boot/load';

// A bundler knows a file by such an address.
export const compiled = (): Promise<WebAssembly.Module> => compileModule(new URL('./fourfold.wasm', import.meta.url).href);
export const compiledMore = (): Promise<WebAssembly.Module> => compileModule(new URL('./fourfold_more.wasm', import.meta.url).href);
export const compiledFormats = (): Promise<WebAssembly.Module> => compileModule(new URL('./fourfold_formats.wasm', import.meta.url).href);
