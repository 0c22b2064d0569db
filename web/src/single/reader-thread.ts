// Takes the place of formats/reader-thread.ts in the page of one file: thread and code are inside.
import code from 'virtual:reader-code';
import InlineWorker from '../formats/reader-worker.ts?worker&inline';

export const createReader = (): Worker => new InlineWorker();
export function readerCode(): Promise<WebAssembly.Module> {
    return WebAssembly.compile(Uint8Array.from(atob(code), (letter) => letter.charCodeAt(0)));
}
