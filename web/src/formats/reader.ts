import type { Answers, Requests } from '../core/api';
import { Core } from '../core/client';
import { createReader, readerCode } from './reader-thread';

let reader: Core | undefined;

// Thread and code come with the first text that is brought.
export function importPlan(request: Requests['import_plan']): Promise<Answers['import_plan']> {
    reader ??= new Core(createReader, readerCode);
    return reader.importPlan(request);
}
