import type { Answers, Requests } from '../core/api';
import { Core } from '../core/client';
import { createReader, readerCode } from './reader-thread';
import { readSettings } from './settings';

let reader: Core | undefined;

// Thread and code come with the first text that is brought.
export async function importPlan({ text = '', set = {} }: Requests['import_plan']): Promise<Answers['import_plan']> {
    const read = await readSettings(text, set);
    if ('problems' in read) return { ok: false, version: 2, problems: read.problems };
    reader ??= new Core(createReader, readerCode);
    return reader.importPlan(read.request);
}
