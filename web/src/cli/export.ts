// The plan as a script: it goes to stdout, and what it cannot say to stderr.
import type { Answers, Catalog, ConfigFormatAsked, Estimate, Exported, JobRefusal, JobRequest, MegatronRelease } from '../core/api';
import { asWritten, differs } from '../formats/as-written';
import { summaryOf } from '../shared/answer-words';
import { pinOf } from '../state/state';
import { emptyPage } from '../store/page';
import { say, tell } from '../words/words';
import { type Asked, type Done, FITS, refused } from './asked';
import { asking } from './faster';

// What reads the file: the plan is searched for that, as far as the job does not say otherwise.
const WHOLE = { tensor_parallel: 1, context_parallel: 1, pipeline_parallel: 1 }; // where the file alone splits no model
const READERS: Partial<Record<string, JobRequest>> = {
    torchtitan: { framework: 'pytorch' },
    nanotron: { framework: 'nanotron' },
    deepspeed: { framework: 'pytorch', ...WHOLE },
    accelerate: { framework: 'transformers' },
};

// Where the file runs it may need more than the plan.
function otherwise(there: Answers['estimate'], counted: Estimate, { format }: Exported, { config_formats }: Catalog): string[] {
    if (!there.ok || there.class === 'fits' || !differs(there, counted)) return [];
    const { class: fit, whole_bytes: used, card_bytes: card, time } = there;
    const label = config_formats.find(({ id }) => id === format)?.label ?? format;
    return [say('formats.there', { label, fit, used, card, time: time.step_seconds })];
}

export async function exportPlan({ core, catalog, request: job, own }: Asked): Promise<Done> {
    const request = { ...READERS[own.to ?? ''], ...job };
    const { to, release, hosts } = own; // the core says what is wrong with them
    const asked = {
        ...(to !== undefined && { format: to as ConfigFormatAsked }),
        ...(release !== undefined && { release: release as MegatronRelease }),
        ...(hosts !== undefined && { hosts: hosts.split(',') }),
    };
    const estimated = core.estimate(JSON.stringify(request));
    const counted = JSON.parse(estimated) as Estimate | JobRefusal;
    if (!counted.ok) return refused(estimated);
    const text = core.export_plan(JSON.stringify({ ...counted.job, ...asked }));
    const answer = JSON.parse(text) as Exported | JobRefusal;
    if (!answer.ok) return refused(text);
    const { yours, needs, left_out } = answer;
    const lacks = left_out.length > 0 ? [`${say('formats.left_out')}:`, ...left_out.map((one) => `  ${tell(one)}`)] : [];
    const fill = yours.length > 0 ? [say('formats.yours', { names: yours })] : [];
    const page = { ...emptyPage(catalog, pinOf(counted.job, catalog).job), answer: counted };
    const there = await asWritten(catalog, { job: page.job as JobRequest, script: answer, asks: asking(core) });
    return {
        status: FITS, // whether it fits is what "fit" tells by its status

        answer: text,
        text: answer.text,
        notes: [
            ...(counted.class === 'fits' ? [] : [summaryOf(page)]),
            ...otherwise(there, counted, answer, catalog),
            ...fill,
            ...(needs ? [tell(needs)] : []),
            ...lacks,
        ],
    };
}
