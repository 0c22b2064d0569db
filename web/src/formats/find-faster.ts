// A run as somebody starts it, the fastest plan on the same GPUs, and what to change to get it: the page and the command line ask this.
import type {
    Catalog,
    ConfigFormatRow,
    Estimate,
    ImportedPlan,
    ImportFormat,
    JobRequest,
    Only,
    Problem,
    RankedPlan,
    Text,
} from '../core/api';
import type { Core } from '../core/client';
import { lineOf } from '../shared/answer-words';
import { allAuto, DEGREES } from '../state/state';
import { planAt, rows, settingsOf } from '../store/ranked';
import { changedLines } from './changed-lines';
import { withOwnFlags } from './own-flags';

export type Asks = Pick<Core, 'estimate' | 'rank' | 'exportPlan'> & Pick<typeof import('./reader'), 'importPlan'>;

export interface Found {
    own: Estimate | null;
    chose: 'split' | 'recompute' | null; // what of the own plan the text leaves open, and Fourfold chose
    problems: readonly Problem[]; // why the run's own plan cannot be
    best: RankedPlan | null; // the fastest on the same GPUs, where it is clearly faster or the own one does not run, or may not; of equally fast ones one that the format can say
    format: ConfigFormatRow | null; // the run's own one; null: it is read and not written
    left_out: readonly Text[]; // what that format cannot say of the fastest plan
    said: RankedPlan | null; // where there is such: the fastest of which it can say all, if that is clearly faster too
    times: number; // bytes that the run needed by its log, for each one that is counted
    changes: string; // to the plan that it can say, in the format's own syntax; where there is no faster one, to the own one
}

export const NOTHING: Found = {
    own: null,
    chose: null,
    problems: [],
    best: null,
    format: null,
    left_out: [],
    said: null,
    changes: '',
    times: 1,
};

// What starts the run.
export interface Start extends Pick<ImportedPlan, 'keys' | 'job' | 'partial' | 'answered'> {
    format: ImportFormat;
}

const MOST_ROUNDS = 5;
const LESS = 0.99; // of a run's memory: what is below it is another plan
// Where a file does not say it, the batch is what all copies take at once: another plan must say it to keep it.
const BATCH = /^(--global-batch-size |global_batch_size = )/;

interface Run {
    own: Estimate | null; // what is faster must be faster than that; null: the run does not fit, or cannot be
    only: Only;
    open: JobRequest; // the run with nothing of its plan chosen
    start: Start;
    unsaid: readonly string[]; // fields of the plan that the text does not say, or otherwise
    asks: Asks;
}

// What goes with a plan beside what is searched.
const BESIDES = [
    'first_stage_layers',
    'last_stage_layers',
    'count_embedding_as_layer',
    'count_loss_as_layer',
    'overlap_gradients',
    'overlap_parameters',
];

function unsaidIn({ job: said, answered, partial }: Start, job: JobRequest, catalog: Catalog): string[] {
    const fields = [...Object.keys(allAuto(catalog)), ...(partial ? BESIDES : []), ...answered].filter((field) => field !== 'gpus');
    return fields.filter((field) => !(field in said) || answered.includes(field) || said[field] !== job[field as keyof JobRequest]);
}

// What a format's own programs never split: torchtune has no pipelines, and for adapters FSDP alone (its recipes to 0.7:
// full_finetune_distributed.py, lora_finetune_distributed.py).
function wholeIn({ format }: Start, job: JobRequest): JobRequest {
    if (format !== 'torchtune') return {};
    const one = { pipeline_parallel: 1 };
    return job.trained === 'lora' ? { ...one, tensor_parallel: 1, context_parallel: 1 } : one;
}

// What had to be chosen for the run that is called its own.
function chosenOf(job: JobRequest, own: Estimate | null): Found['chose'] {
    const open = (field: keyof JobRequest): boolean => (job[field] ?? 'auto') === 'auto';
    if (DEGREES.some(open) || (open('expert_parallel') && own?.job.expert_parallel !== 1)) return 'split';
    return open('recompute') ? 'recompute' : null;
}

const rowOf = ({ config_formats }: Catalog, id: ImportFormat): ConfigFormatRow | null =>
    config_formats.find((row) => row.id === id) ?? null;

// The fastest plan that fits, where it is clearly faster than the own one or that one does not run, or may not.
async function fastest({ own, only, open, asks }: Run): Promise<{ plan: RankedPlan; tie_width: number } | null> {
    const ranked = await asks.rank({ ...open, only });
    const plan = ranked.ok && rows(ranked) > 0 ? planAt(ranked, 0) : null;
    if (!plan || !ranked.ok || plan.class !== 'fits') return null;
    const { tie_width } = ranked;
    return own?.class === 'fits' && own.step_seconds <= plan.step_seconds * (1 + tie_width) ? null : { plan, tie_width };
}

// Both plans as files of one format: the lines in which they differ, and what it cannot say of the other plan.
async function changesTo(own: Estimate, best: RankedPlan | null, row: ConfigFormatRow, { open, start, unsaid, asks }: Run) {
    const better = best ? await asks.estimate({ ...open, ...settingsOf(best) } as JobRequest) : own; // chooses what goes with it
    if (!better.ok) return { changes: '', left_out: [] };
    const write = (of: Estimate) => asks.exportPlan({ ...of.job, format: row.id, whole: start.partial });
    const [from, to] = await Promise.all([write(own), write(better)]);
    if (!from.ok || !to.ok) return { changes: '', left_out: [] };
    const before: { [field: string]: unknown } = own.job;
    const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other); // a model is an object
    const changed = new Set(Object.entries(better.job).flatMap(([field, value]) => (same(before[field], value) ? [] : [field])));
    const atOnce = ({ job, data_parallel }: Estimate) => Number(job.micro_batch) * data_parallel;
    const keys = start.keys.filter(({ line, fields }) => line > 0 || !fields.some((field) => start.answered.includes(field)));
    const read = unsaid.length > 0 ? await asks.importPlan({ text: to.text }) : null;
    const said = read?.ok ? (read.jobs[0]?.keys ?? []) : [];
    const must = said.filter(({ fields }) => fields.some((field) => unsaid.includes(field)));
    const known = new Set(from.left_out.map((one) => JSON.stringify(one)));
    return {
        changes: changedLines(
            ...withOwnFlags(from.text, to.text, keys, changed),
            keys,
            atOnce(own) === atOnce(better) ? null : BATCH,
            must,
        ),
        left_out: to.left_out.filter((one) => !known.has(JSON.stringify(one))),
    };
}

// The fields of a plan that texts of export_plan() name.
const fieldsIn = (left_out: readonly Text[]): string[] =>
    left_out.flatMap(({ args }) => {
        const field = args?.field;
        const id = field !== null && typeof field === 'object' && 'id' in field ? String(field.id) : '';
        return id.startsWith('field.') ? [id.slice('field.'.length)] : [];
    });

// The fastest plan of which the format can say all: what it cannot say stays as the own plan has it.
async function fastestSaid(own: Estimate, first: readonly Text[], row: ConfigFormatRow, run: Run) {
    const { open } = run;
    const kept: { [field: string]: unknown } = {};
    let left_out = first;
    for (let round = 0; round < MOST_ROUNDS; ++round) {
        const isOpen = (field: string) => open[field as keyof JobRequest] === 'auto' && !(field in kept);
        const named = fieldsIn(left_out).filter(isOpen);
        const fields = named.length > 0 ? named : ['zero'].filter(isOpen); // it may hang on that: accelerate recomputes under FSDP alone
        if (fields.length === 0) break;
        for (const field of fields) kept[field] = own.job[field as keyof JobRequest];
        const narrow = { ...open, ...kept } as JobRequest;
        const narrowed = { ...run, open: narrow };
        const said = (await fastest(narrowed))?.plan;
        if (!said) break;
        const made = await changesTo(own, said, row, narrowed);
        if (made.left_out.length === 0) return { said, changes: made.changes };
        left_out = made.left_out;
    }
    return { said: null, changes: '' };
}

const GIB = 2 ** 30;
// A run that died needs less than it is counted with, and no more than the log leaves of the GPU.
const roomFor = (own: Estimate, times: number): Only => ({
    memory_at_most_gib: Math.min((lineOf(own) * own.card_bytes) / times, own.whole_bytes * LESS) / GIB,
});

// `job`: the run. What it leaves open the search chooses. `times`: bytes that it needed when it died of memory, for each one that is counted.
export async function findFaster(job: JobRequest, start: Start, catalog: Catalog, asks: Asks, times = 1): Promise<Found> {
    const open: JobRequest = { ...job, ...allAuto(catalog), ...wholeIn(start, job) };
    const answer = await asks.estimate(job);
    const own = answer.ok ? answer : null;
    const died = own && times > 1;
    const run: Run = {
        own: died ? null : own,
        only: died ? roomFor(own, times) : {},
        open,
        start,
        unsaid: unsaidIn(start, job, catalog),
        asks,
    };
    const format = rowOf(catalog, start.format);
    const first = await fastest(run);
    const best = first?.plan ?? null;
    const chose = own && chosenOf(job, own);
    const found = { ...NOTHING, own, chose, problems: answer.ok ? [] : answer.problems, times, format, best };
    if (own?.class === 'fits' && chose && !best && format) return { ...found, changes: (await changesTo(own, null, format, run)).changes };
    if (!first || !best || !own || !format) return found;
    const made = await changesTo(own, best, format, run);
    if (made.left_out.length === 0) return { ...found, ...made };
    const { said, changes } = await fastestSaid(own, made.left_out, format, run);
    if (!said) return { ...found, left_out: made.left_out };
    if (said.step_seconds <= best.step_seconds * (1 + first.tie_width)) return { ...found, best: said, changes };
    return { ...found, left_out: made.left_out, said, changes };
}
