// Takes the place of core/thread.ts in the page of one file: a page from a file may load no other one, so that the worker is inside.
import InlineWorker from '../core/worker.ts?worker&inline';

export const createThread = (): Worker => new InlineWorker();
