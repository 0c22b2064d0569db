// A thread for an instance of the core. The page in one file has its own way: single/thread.ts.
export const createThread = (): Worker => new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
