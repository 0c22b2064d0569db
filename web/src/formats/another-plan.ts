// A file for another framework than the plan was worked out for: the page and the command line ask this.
import type { Catalog, Estimate, Exported, ExportRequest, JobRefusal, JobRequest } from '../core/api';
import { DEGREES } from '../state/state';
import { asWritten } from './as-written';
import type { Asks } from './find-faster';

// Where the file alone splits no model.
const WHOLE: JobRequest = { tensor_parallel: 1, context_parallel: 1, pipeline_parallel: 1 };

interface Shown {
    open: JobRequest; // as the reader asked for it
    job: JobRequest; // of the plan shown, all of it chosen
    script: Exported; // that plan as the file
    asked: Omit<ExportRequest, keyof JobRequest>; // of the file
}

export interface There {
    there: Estimate | JobRefusal; // what comes of the file where it runs
    other: { answer: Estimate; script: Exported } | null; // another plan than the one shown, and its file
}

// How the plan splits the run.
const SPLIT = [...DEGREES, 'expert_parallel', 'zero', 'schedule', 'virtual_stages', 'layout'];
const saysSplit = ({ left_out }: Exported): boolean => {
    const texts = JSON.stringify(left_out);
    return !SPLIT.some((field) => texts.includes(`"field.${field}"`));
};

const asOpen = (open: JobRequest, fields: JobRequest): JobRequest =>
    Object.fromEntries(Object.entries(fields).filter(([field]) => (open[field as keyof JobRequest] ?? 'auto') === 'auto'));

// Where the file cannot say how the plan splits the run, or the plan does not fit where the file runs: the plan that is found for that.
export async function planThere(
    catalog: Catalog,
    { open, job, script, asked }: Shown,
    asks: Pick<Asks, 'estimate' | 'exportPlan' | 'importPlan'>,
): Promise<There> {
    const there = await asWritten(catalog, { job, script, asks });
    const { framework, format, text } = script;
    if (!there.ok || (there.class === 'fits' && saysSplit(script))) return { there, other: null };
    const answer = await asks.estimate({ ...open, framework, ...(format === 'deepspeed' && asOpen(open, WHOLE)) } as JobRequest);
    if (!answer.ok || answer.class !== 'fits') return { there, other: null };
    const again = await asks.exportPlan({ ...answer.job, ...asked });
    if (!again.ok || again.text === text || (there.class === 'fits' && !saysSplit(again))) return { there, other: null };
    return { there: await asWritten(catalog, { job: answer.job, script: again, asks }), other: { answer, script: again } };
}
