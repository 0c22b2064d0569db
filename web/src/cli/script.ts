// A launch script as the job that it starts. What the script leaves open is asked of whoever called, never guessed.
import type { Answers, Catalog, ImportedKey, ImportedPlan, Json, Refusal } from '../core/api';
import { readSettings } from '../formats/settings';
import { problemText } from '../shared/names';
import { allAuto } from '../state/state';
import { listed, say, sentences, tell } from '../words/words';
import type { Given } from './arguments';
import type { TextCore } from './asked';
import { jobKey, modelOf, numberAlone, type Read } from './job';
import { type Own, optionOf } from './options';
import { isRunLog } from './why';

// What a script does not say, by name; and which of its starts is meant, counted from 1.
export interface Said {
    set: { [name: string]: string };
    start: number;
    given: ReadonlySet<string>; // fields of the job that options say
}

const ANSWERED = ['model', 'gpus', 'sequence_length', 'micro_batch', 'global_batch']; // what readers ask and options say
const NEEDED = ['model', 'gpus', 'sequence_length']; // without these it would be another run

// "--set PP=4 --set FP8=1", and the options of the job.
export function saidOf(own: Partial<Record<Own, string>>, given: readonly Given[], catalog: Catalog, core: TextCore): Said {
    const typed = given.map(({ key, text }) => [jobKey(key, catalog) ?? key, text ?? ''] as const);
    const options = typed.flatMap(([key, text]) => {
        if (!ANSWERED.includes(key)) return [];
        const value = key === 'model' ? modelOf(text, catalog, core) : numberAlone(key, text, catalog);
        return typeof value === 'string' || typeof value === 'number' ? [[key, String(value)] as const] : [];
    });
    const pairs = (own.set ?? '').split('\n').flatMap((pair) => {
        const [, name, value] = /^([^=]+)=(.*)$/.exec(pair) ?? [];
        return name === undefined || value === undefined ? [] : [[name, value] as const];
    });
    const set = Object.fromEntries([...options, ...pairs]);
    return { set, start: Number(own.start ?? 1), given: new Set(typed.map(([key]) => key)) };
}

const optionFor = (name: string): string => (ANSWERED.includes(name) ? optionOf(name) : `--set ${name}=…`);
// An option counts more than a file: what it says need not stand there, nor be understood. The vocabulary is the model's.
const isGiven = (name: string, { given }: Said): boolean => given.has(name === 'vocab_size' ? 'model' : name);
const counts = ({ fields }: ImportedKey, said: Said): boolean => fields.length === 0 || fields.some((field) => !isGiven(field, said));
const isUnsaid = (key: ImportedKey, said: Said): boolean => key.fate === 'open' && counts(key, said);

function complaintsOf(
    file: string,
    { asked, keys, refused, job }: ImportedPlan,
    questions: readonly { name: string; choices: string[] }[],
    said: Said,
): { complaints: string[]; isOpen: boolean } {
    const needed = keys.filter((key) => isUnsaid(key, said) && key.fields.some((field) => NEEDED.includes(field) && !isGiven(field, said)));
    const names = [...new Set(needed.flatMap((key) => key.names))];
    const missing = [...asked, ...names].length === 0 && job.model === undefined ? ['model'] : asked; // here no model was chosen before
    const stops = refused.map((text) => say('cli.script.refused', { text: tell(text) }));
    const questioned = [
        ...missing.filter((name) => !isGiven(name, said)).map((name) => say('cli.script.asked', { file, name, option: optionFor(name) })),
        ...names.map((name) => {
            const choices = questions.find((one) => one.name === name)?.choices ?? [];
            const text = say('cli.script.asked', { file, name, option: optionFor(name) });
            return choices.length === 0 ? text : `${text} ${say('cli.script.choices', { choices: listed(choices) })}`;
        }),
    ];
    return { complaints: [...stops, ...questioned], isOpen: questioned.length > 0 };
}

const told = ({ key, near }: ImportedKey): string => (near ? `${key} (${say('formats.models.near')} ${near})` : key);

// A slip of the pen may be why something is missing.
function withSlips(complaints: string[], { keys }: ImportedPlan): string[] {
    const slips = keys.filter(({ near }) => near).map(told);
    return complaints.length === 0 || slips.length === 0 ? complaints : [...complaints, say('cli.script.unknown', { keys: listed(slips) })];
}

function notesOf({ keys, notes, job }: ImportedPlan, complete: boolean, said: Said): string[] {
    const of = (isOne: (key: ImportedKey) => boolean) => [...new Set(keys.filter(isOne).map(told))];
    const [unknown, open] = [of((key) => key.fate === 'unknown' && counts(key, said)), of((key) => isUnsaid(key, said))];
    return [
        ...notes.map(tell),
        ...(complete ? [] : [say('cli.script.incomplete')]),
        ...(job.token_budget === 0 && !said.given.has('token_budget')
            ? [say('cli.script.tokens', { option: optionOf('token_budget') })]
            : []),
        ...(unknown.length > 0 ? [say('cli.script.unknown', { keys: listed(unknown) })] : []),
        ...(open.length > 0 ? [say('cli.script.open', { keys: listed(open) })] : []),
    ];
}

// Why a text is nothing that starts a training, as the page says it.
function whyNone(name: string, text: string, { problems }: Refusal, core: TextCore): string {
    if (isRunLog(text, core)) return say('cli.is_log', { name });
    const told = problems.map(problemText);
    const isKnown = problems.some(({ message }) => message.id !== 'problem.import_format');
    return isKnown
        ? say('cli.problem', { option: name, text: sentences(...told) })
        : sentences(say('cli.not_understood', { name }), ...told);
}

export async function readScript(name: string, text: string, core: TextCore, catalog: Catalog, said: Said): Promise<Read> {
    const { set, start } = said;
    const read = await readSettings(text, set);
    if ('problems' in read) return { job: {}, refusal: null, complaints: read.problems.map(problemText), notes: [] };
    const script = JSON.parse(core.import_plan(JSON.stringify(read.request))) as Answers['import_plan'];
    if (!script.ok) return { job: {}, refusal: null, complaints: [whyNone(name, text, script, core)], notes: [] };
    const { jobs, questions, complete } = script;
    const plan = jobs[start - 1];
    if (!plan) return { job: {}, refusal: null, complaints: [say('cli.script.no_start', { name, count: jobs.length })], notes: [] };
    const several = jobs.length > 1 ? [say('cli.script.several', { name, count: jobs.length, start })] : [];
    const job: { [key: string]: Json } = { ...allAuto(catalog), ...plan.job };
    const notes = [...several, ...notesOf(plan, complete, said)];
    const { complaints, isOpen } = complaintsOf(name, plan, questions, said);
    return {
        job,
        refusal: null,
        complaints: withSlips(complaints, plan),
        notes,
        isOpen,
        script: { ...plan, format: script.format },
    };
}
