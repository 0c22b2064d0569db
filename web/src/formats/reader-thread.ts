// Where the reader's thread and its code come from. The page in one file has its own way: single/reader-thread.ts.
import address from 'fourfold-formats.wasm?url';
import { compileModule } from '../boot/load';

export const createReader = (): Worker => new Worker(new URL('./reader-worker.ts', import.meta.url), { type: 'module' });
export const readerCode = (): Promise<WebAssembly.Module> => compileModule(new URL(address, import.meta.url).href);
