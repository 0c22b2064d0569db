import type { Answers, Requests } from '../core/api';
import { Core } from '../core/client';
import { fetchWords } from '../words/words';
import { createReader, readerCode } from './reader-thread';
import { readSettings } from './settings';

const LONG_MEASUREMENT = 100_000; // characters: the instance that read it holds some 100 MB and is not kept
let reader: Core | undefined;

// Thread and code come with the first text that is brought, or the first plan that is written.
function readerNow(): Core {
    reader ??= new Core(createReader, readerCode);
    return reader;
}

// What a run printed: ok is false where the text is no log.
export const readRun = (request: Requests['read_run']): Promise<Answers['read_run']> => readerNow().readRun(request);

export const measure: Core['measure'] = async (text, said) => {
    const read = await readerNow().measure(text, said);
    if (text.length > LONG_MEASUREMENT) reader?.end();
    return read;
};

export async function importPlan({ text = '', set = {} }: Requests['import_plan']): Promise<Answers['import_plan']> {
    const read = await readSettings(text, set);
    if ('problems' in read) return { ok: false, version: 2, problems: read.problems };
    const [answer] = await Promise.all([readerNow().importPlan(read.request), fetchWords('formats')]); // what is said of its keys
    return answer;
}

export const findModels = (request: Requests['find_models']): Promise<Answers['find_models']> => readerNow().findModels(request);

export const exportPlan = (job: Requests['export_plan']): Promise<Answers['export_plan']> => readerNow().exportPlan(job);
