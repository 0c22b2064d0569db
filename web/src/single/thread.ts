// Takes the place of core/thread.ts in the page of one file: a page from a file may load no other one, so that thread and code are inside.
import code from 'virtual:second-code';
import InlineWorker from '../core/worker.ts?worker&inline';
import { kept } from '../shared/kept';
import { compileText } from './load';

export const createThread = (): Worker => new InlineWorker();
export const secondCode = kept(() => compileText(code));
