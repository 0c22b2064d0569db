// A launch script as the job that it starts. What the script leaves open is asked of whoever called, never guessed.
import type { Answers, Catalog, ImportedKey, ImportedPlan, Json } from '../core/api';
import { readSettings } from '../formats/settings';
import { problemText } from '../shared/names';
import { allAuto } from '../state/state';
import { listed, say, tell } from '../words/words';
import type { Given } from './arguments';
import type { TextCore } from './asked';
import { jobKey, type Read } from './job';
import { type Own, optionOf } from './options';

// What a script does not say, by name; and which of its starts is meant, counted from 1.
export interface Said {
    set: { [name: string]: string };
    start: number;
}

const FROM_OPTIONS = ['gpus', 'sequence_length', 'micro_batch']; // options of the job that the reader of scripts can use
const NEEDED = ['model', 'gpus', 'sequence_length']; // without these it would be another run

// "--set PP=4 --set FP8=1", and the options of the job.
export function saidOf(own: Partial<Record<Own, string>>, given: readonly Given[], catalog: Catalog): Said {
    const options = given
        .map(({ key, text }) => [jobKey(key, catalog) ?? key, text ?? ''] as const)
        .filter(([key, text]) => FROM_OPTIONS.includes(key) && /^\d+$/.test(text));
    const pairs = (own.set ?? '').split('\n').flatMap((pair) => {
        const [, name, value] = /^([^=]+)=(.*)$/.exec(pair) ?? [];
        return name === undefined || value === undefined ? [] : [[name, value] as const];
    });
    return { set: Object.fromEntries([...options, ...pairs]), start: Number(own.start ?? 1) };
}

const optionFor = (name: string): string => (FROM_OPTIONS.includes(name) ? optionOf(name) : `--set ${name}=…`);

function complaintsOf({ asked, keys, refused }: ImportedPlan, questions: readonly { name: string; choices: string[] }[]): string[] {
    const needed = keys.filter(({ fate, fields }) => fate === 'open' && fields.some((field) => NEEDED.includes(field)));
    const names = [...new Set(needed.flatMap((key) => key.names))];
    return [
        ...refused.map((text) => say('cli.script.refused', { text: tell(text) })),
        ...asked.map((name) => say('cli.script.asked', { name, option: optionFor(name) })),
        ...names.map((name) => {
            const choices = questions.find((one) => one.name === name)?.choices ?? [];
            const text = say('cli.script.asked', { name, option: optionFor(name) });
            return choices.length === 0 ? text : `${text} ${say('cli.script.choices', { choices: listed(choices) })}`;
        }),
    ];
}

const told = ({ key, near }: ImportedKey): string => (near ? `${key} (${say('formats.models.near')} ${near})` : key);

// A slip of the pen may be why something is missing.
function withSlips(complaints: string[], { keys }: ImportedPlan): string[] {
    const slips = keys.filter(({ near }) => near).map(told);
    return complaints.length === 0 || slips.length === 0 ? complaints : [...complaints, say('cli.script.unknown', { keys: listed(slips) })];
}

function notesOf({ keys, notes }: ImportedPlan, complete: boolean): string[] {
    const of = (fate: 'unknown' | 'open') => [...new Set(keys.filter((key) => key.fate === fate).map(told))];
    const [unknown, open] = [of('unknown'), of('open')];
    return [
        ...notes.map(tell),
        ...(complete ? [] : [say('cli.script.incomplete')]),
        ...(unknown.length > 0 ? [say('cli.script.unknown', { keys: listed(unknown) })] : []),
        ...(open.length > 0 ? [say('cli.script.open', { keys: listed(open) })] : []),
    ];
}

export async function readScript(name: string, text: string, core: TextCore, catalog: Catalog, { set, start }: Said): Promise<Read> {
    const read = await readSettings(text, set);
    if ('problems' in read) return { job: {}, refusal: null, complaints: read.problems.map(problemText), notes: [] };
    const script = JSON.parse(core.import_plan(JSON.stringify(read.request))) as Answers['import_plan'];
    if (!script.ok) return { job: {}, refusal: null, complaints: [say('cli.not_understood', { name })], notes: [] };
    const { jobs, questions, complete } = script;
    const plan = jobs[start - 1];
    if (!plan) return { job: {}, refusal: null, complaints: [say('cli.script.no_start', { name, count: jobs.length })], notes: [] };
    const several = jobs.length > 1 ? [say('cli.script.several', { name, count: jobs.length, start })] : [];
    const job: { [key: string]: Json } = { ...allAuto(catalog), ...plan.job };
    const notes = [...several, ...notesOf(plan, complete)];
    return {
        job,
        refusal: null,
        complaints: withSlips(complaintsOf(plan, questions), plan),
        notes,
        script: { format: script.format, keys: plan.keys },
    };
}
