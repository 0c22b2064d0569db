// Options as the fields of a job: by their names, or by the short ones of a link; numbers as people write them.
import type { Answers, Catalog, Estimate, FieldKey, JobRefusal, JobRequest } from '../core/api';
import { typedFormat } from '../format/typed';
import type { Start } from '../formats/find-faster';
import { kindOf } from '../state/kind';
import { readField, type Value } from '../state/state';
import type { Given } from './arguments';
import type { TextCore } from './asked';

// What a file gives.
export interface Read {
    job: JobRequest;
    refusal: string | null; // of the core, as it is
    complaints: string[]; // our own
    notes: string[];
    log?: string; // what a run printed
    script?: Start; // it starts a training
    isOpen?: boolean; // … and something is missing
}

export const NAMED = ['model', 'gpu', 'cluster', 'method'] as const;

// The key of a job that an option names; null: it is none.
export function jobKey(key: string, { fields }: Catalog): string | null {
    if ((NAMED as readonly string[]).includes(key)) return key;
    return fields.find((field) => field.key === key || field.link === key)?.key ?? null;
}
export const isBooleanField = (key: string, { fields }: Catalog): boolean =>
    fields.some((field) => field.type === 'boolean' && (field.key === key || field.link === key));

const typed = typedFormat(() => '.');

type Found = Extract<Answers['find_models'], { ok: true }>;
function found(words: string, core: TextCore): Found | null {
    const answer = JSON.parse(core.find_models(JSON.stringify({ words }))) as Answers['find_models'];
    return answer.ok ? answer : null;
}

// A model by another name than its id, or one that the catalogue lacks, as a job takes it.
export function modelOf(name: string, catalog: Catalog, core: TextCore): JobRequest['model'] {
    if (catalog.models.some(({ id }) => id === name)) return name;
    const { match, models: [first] = [] } = found(name, core) ?? {};
    return (match === 'name' && first?.model) || name;
}

// The ids of those that the catalogue lacks, by words of their names.
export function otherModels(words: string, catalog: Catalog, core: TextCore): Found['models'] {
    const listed = new Set(catalog.models.map(({ id }) => id));
    return (found(words, core)?.models ?? []).filter(({ id }) => !listed.has(id));
}

// An option that no field has goes to the core under its name: it says so, and which field may have been meant.
export function withOptions(base: JobRequest, given: readonly Given[], catalog: Catalog, core: TextCore): JobRequest {
    const job: Record<string, unknown> = { ...base };
    for (const { key, text } of given) {
        const name = jobKey(key, catalog) ?? key;
        const field = catalog.fields.find((one) => one.key === name);
        job[name] = field ? readField(field, text ?? '') : (text ?? '');
    }
    if (typeof job.model === 'string') job.model = modelOf(job.model, catalog, core);
    readNumbers(job as Record<string, Value>, given, catalog, core);
    return job as JobRequest;
}

// A number that is told by its option alone, as readers of files take it; null: it needs another field of the job, or is none.
export function numberAlone(key: string, text: string, catalog: Catalog): number | null {
    const field = catalog.fields.find((one) => one.key === key);
    const isSimple = field?.type === 'integer' && (field.also === undefined || /^\d+$/.test(text));
    const value = isSimple
        ? typed.read(
              text,
              kindOf(catalog, key, () => undefined),
          )
        : null;
    return typeof value === 'number' && Number.isInteger(value) ? value : null;
}

// "4M tokens" of a batch need the length of a sequence, "32 nodes" how many GPUs one has: from the job, its default, or the core.
function readNumbers(job: Record<string, Value>, given: readonly Given[], catalog: Catalog, core: TextCore): void {
    const keys = [...new Set(given.map(({ key }) => jobKey(key, catalog)))];
    const numbers = catalog.fields.filter(({ key, type }) => keys.includes(key) && (type === 'integer' || type === 'number'));
    const read = (known: (key: FieldKey) => unknown): boolean => {
        for (const { key } of numbers) {
            const value = job[key];
            if (typeof value === 'string') job[key] = typed.read(value, kindOf(catalog, key, known));
        }
        return numbers.every(({ key }) => typeof job[key] === 'number' || job[key] === 'auto');
    };
    const said = (key: FieldKey): unknown => job[key] ?? catalog.fields.find((field) => field.key === key)?.default;
    if (read(said) || read(said)) return; // the second time with the numbers of the first
    const { gpus: _, ...others } = job;
    const answer = JSON.parse(core.estimate(JSON.stringify(others))) as Estimate | JobRefusal;
    const chosen = answer.job;
    if (chosen) read((key) => (typeof said(key) === 'number' ? said(key) : chosen[key]));
}
