// Takes the place of formats/reader-thread.ts in the page of one file: thread and code are inside.
import code from 'virtual:reader-code';
import InlineWorker from '../formats/reader-worker.ts?worker&inline';
import { compileText } from './load';

export const createReader = (): Worker => new InlineWorker();
export const readerCode = (): Promise<WebAssembly.Module> => compileText(code);
