// A measured run as the repository's issue form takes it (.github/ISSUE_TEMPLATE/measured-run.yml), in the address that opens the form. What
// stands in the fields is for whoever keeps the measured runs: keys of the contract and plain numbers, the same in every language.
import type { CalibrationRow, Estimate } from '../core/api';
import { formatLink, pinOf } from '../state/state';
import type { Page } from '../store/page';

const FORM = 'measured-run.yml';
const GIB = 2 ** 30;

// Fields of the form, in its order. What happened is the reader's to say there.
export const FIELDS = [
    'model',
    'config',
    'gpu',
    'counts',
    'split',
    'batch',
    'framework',
    'recompute',
    'attention',
    'precision',
    'memory',
    'time',
    'command',
] as const;
export type FieldId = (typeof FIELDS)[number];
export type Report = Partial<Record<FieldId, string>>;

export interface Reading {
    seconds: number; // of a step; 0: not measured
    gib: number; // the most that a GPU allocated; 0: not measured
    rows: readonly CalibrationRow[]; // more runs, in the reader's own lines
    lines: string;
}
export const NOTHING: Reading = { seconds: 0, gib: 0, rows: [], lines: '' };

const plain = (value: number): string => String(Number(value.toPrecision(4)));
const listed = (values: readonly (readonly [key: string, value: number])[]): string =>
    values.map(([key, value]) => `${key}=${plain(value)}`).join(', ');
const ofJob = (job: Estimate['job'], keys: readonly (keyof Estimate['job'])[]): string =>
    keys.flatMap((key) => (job[key] === undefined || job[key] === '' ? [] : [`${key}=${job[key]}`])).join(', ');

// Choices of the form that say the same as a choice of the job.
const RECOMPUTE: Readonly<Record<string, string>> = { none: 'none', selective: 'selective', full: 'full' };

const memoryOf = (answer: Estimate, { gib }: Reading): string =>
    gib > 0
        ? listed([
              ['measured_gib', gib],
              ['estimated_allocated_gib', answer.total_bytes / GIB],
              ['estimated_reserved_gib', answer.reserved_bytes / GIB],
          ])
        : '';

function timeOf({ time }: Estimate, { seconds, rows }: Reading): string {
    if (seconds > 0)
        return listed([
            ['measured_seconds', seconds],
            ['estimated_seconds', time.step_seconds],
            ['low_seconds', time.low_seconds],
            ['high_seconds', time.high_seconds],
        ]);
    return rows
        .map((row) =>
            listed([
                ...(row.step_seconds === null ? [] : [['measured_seconds', row.step_seconds] as const]),
                ...(row.estimated_seconds === null ? [] : [['estimated_seconds', row.estimated_seconds] as const]),
            ]),
        )
        .join('; ');
}

// What the form gets; a field without a value is left to the reader.
export function reportOf({ catalog }: Page, answer: Estimate, reading: Reading): Report {
    const { job, model, gpu } = answer;
    const own = typeof job.model === 'object';
    const all: Record<FieldId, string> = {
        model: own ? model.label || 'below' : model.label,
        config: own ? JSON.stringify(model.config) : '',
        gpu: gpu.label,
        counts: ofJob(job, ['gpus', 'gpus_per_node', 'cluster']),
        split: `TP ${job.tensor_parallel}, CP ${job.context_parallel}, PP ${job.pipeline_parallel}, DP ${answer.data_parallel}; ${ofJob(job, ['expert_parallel', 'virtual_stages', 'schedule', 'layout', 'zero', 'sequence_parallel'])}`,
        batch: ofJob(job, ['micro_batch', 'sequence_length', 'global_batch']),
        framework: String(job.framework),
        recompute: RECOMPUTE[String(job.recompute)] ?? '',
        attention: job.attention === 'auto' ? '' : String(job.attention ?? ''),
        precision: ofJob(job, ['precision', 'gradients_in_fp32', 'moments']),
        memory: memoryOf(answer, reading),
        time: timeOf(answer, reading),
        command: [`Fourfold ${formatLink(pinOf(job, catalog).job, catalog)}`, reading.lines.trim()].filter(Boolean).join('\n'),
    };
    return Object.fromEntries(FIELDS.flatMap((id) => (all[id] === '' ? [] : [[id, all[id]]])));
}

// Longer addresses are refused by the host.
const MOST = 7500;
const LONG: readonly FieldId[] = ['config', 'command']; // left out in this order

export function formAddress(repository: string, report: Report): { url: string; left: FieldId[] } {
    const left: FieldId[] = [];
    const url = (): string => {
        const params = new URLSearchParams({ template: FORM });
        for (const id of FIELDS) if (report[id] !== undefined && !left.includes(id)) params.set(id, report[id] ?? '');
        return `${repository}/issues/new?${params}`;
    };
    for (const id of LONG) if (report[id] !== undefined && url().length > MOST) left.push(id);
    return { url: url(), left };
}
