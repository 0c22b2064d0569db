// A thread for an instance of the core, and the second file of its module. The page in one file has its own way: single/thread.ts.
import address from 'fourfold-more.wasm?url';
import { compileModule } from '../boot/load';
import { kept } from '../shared/kept';

export const createThread = (): Worker => new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
export const secondCode = kept(() => compileModule(new URL(address, import.meta.url).href));
