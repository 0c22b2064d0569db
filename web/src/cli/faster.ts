// Of a run as a script starts it: the fastest plan on the same GPUs and what to change, as the page says it of a pasted one.
import type { Answers, Requests } from '../core/api';
import { fasterText } from '../formats/faster-words';
import { type Asks, type Found, findFaster } from '../formats/find-faster';
import { readSettings } from '../formats/settings';
import { LINK_VERSION } from '../state/state';
import { type Asked, type Done, type TextCore, WRONG } from './asked';

export const asking = (core: TextCore): Asks => ({
    estimate: async (job: Requests['estimate']) => JSON.parse(core.estimate(JSON.stringify(job))) as Answers['estimate'],
    rank: async (job) => JSON.parse(core.rank(JSON.stringify(job))) as Answers['rank'],
    exportPlan: async (job: Requests['export_plan']) => JSON.parse(core.export_plan(JSON.stringify(job))) as Answers['export_plan'],
    importPlan: async ({ text = '' }) => {
        const read = await readSettings(text);
        return 'problems' in read
            ? { ok: false, version: LINK_VERSION, problems: read.problems }
            : (JSON.parse(core.import_plan(JSON.stringify(read.request))) as Answers['import_plan']);
    },
});

// For programs: null where no other plan is clearly faster, and the text says its own.
const forPrograms = ({ best, chose, format, left_out, said, changes }: Found) =>
    best || changes ? { plan: best, chose, format: format?.id ?? null, left_out, said, changes } : null;

// The answer with what is faster behind it; unchanged where no script was read.
export async function withFaster(asked: Asked, done: Done): Promise<Done> {
    const { core, catalog, request, script } = asked;
    if (script === null) return done;
    const found = await findFaster(request, script, catalog, asking(core), done.times);
    const text = fasterText(found, catalog);
    if (done.status === WRONG) return text === '' ? done : { ...done, notes: [...done.notes, text] };
    const answer = JSON.stringify({ ...JSON.parse(done.answer), faster: forPrograms(found) });
    return { ...done, answer, text: [done.text, ...(text === '' ? [] : ['', text])].join('\n') };
}
