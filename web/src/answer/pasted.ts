// What a pasted text is, and what is known of it: without a drawing.
import { useEffect, useState } from 'preact/hooks';
import type { Answers, FoundModel, Imported, ImportedPlan, RunRead } from '../core/api';
import type { Core } from '../core/client';
import { isLog } from '../formats/is-log';
import type { Compared } from '../formats/run-door';
import type { Script } from '../formats/script';
import { MAX_CONFIG } from '../state/state';
import { sameRepository } from './hub-id';

export type Importing = Pick<Core, 'importConfig' | 'importPlan' | 'findModels'> & { readRun(text: string): Promise<Answers['read_run']> };
type Refused = Extract<Answers['import_plan'], { ok: false }>;
export type Config = Extract<Imported, { ok: true }>;
// What a script's run printed, with that run.
export type Compare = (plan: ImportedPlan, text: string, run: RunRead) => Promise<Compared>;

const isEmpty = (text: string): boolean => text.trim() === '';
// A model's config is JSON; of other JSON, DeepSpeed's says how a run is split.
const isConfig = (text: string): boolean =>
    /^\s*[{["]/.test(text) &&
    !/^\s*(\[\w|\{')/.test(text) && // a log
    !/"(zero_optimization|train_batch_size|train_micro_batch_size_per_gpu|gradient_accumulation_steps)"/.test(text);
// Without these it would be another run.
const NEEDED = ['model', 'gpus', 'sequence_length'];
export const isWhole = ({ asked, keys }: ImportedPlan): boolean =>
    asked.length === 0 && !keys.some(({ fate, fields }) => fate === 'open' && fields.some((field) => NEEDED.includes(field)));
export type Found = Imported | Refused | Script | RunRead;
export const isScript = (result: Found): result is Script => 'jobs' in result;
export const isRun = (result: Found): result is RunRead => 'printers' in result;
export const isPrinted = (result: Found): boolean => isRun(result) || (!result.ok && isLog(result)); // there is nothing to use

// What the text is: a model's config, what a run printed, something that starts one; or that with what it printed below it.
async function readText(text: string, set: { [name: string]: string }, importing: Importing): Promise<Found> {
    if (isConfig(text)) return importing.importConfig(text);
    const run = await importing.readRun(text);
    if (text.length > MAX_CONFIG || (isLog(run) && !run.ok)) return run;
    const script = await importing.importPlan({
        text,
        set: Object.fromEntries(Object.entries(set).filter(([, value]) => !isEmpty(value))),
    });
    return run.ok ? (script.ok ? { ...script, run } : run) : script;
}

// The hub says a name where the config itself says none.
export function named(model: Config, repository: string): Config {
    const name = repository.slice(repository.indexOf('/') + 1);
    return name === '' || model.label !== '' ? model : { ...model, label: name, model: { ...model.model, _name_or_path: name } };
}

// The core's own model of that repository; null: it has none, undefined: it is being asked.
export function useKnownModel(repository: string | null, findModels: Core['findModels']): FoundModel | null | undefined {
    const [known, know] = useState<{ of: string; model: FoundModel | null }>({ of: '', model: null });
    useEffect(() => {
        if (repository === null) return;
        let stale = false;
        const take = (model: FoundModel | null): void => void (stale || know({ of: repository, model }));
        findModels({ words: repository }).then(
            (answer) => take((answer.ok && answer.models.find((one) => sameRepository(one.repository, repository))) || null),
            () => take(null),
        );
        return () => {
            stale = true;
        };
    }, [repository]);
    return known.of === repository ? known.model : undefined;
}

// What the run of a whole script printed, against what is counted for it. undefined: there is nothing, null: it is being worked out.
export function useCompared(script: Script | null, plan: ImportedPlan | undefined, text: string, compare: Compare) {
    const [done, finish] = useState<{ of: ImportedPlan; found: Compared } | null>(null);
    const run = script?.run;
    useEffect(() => {
        if (!plan || !run) return;
        let stale = false;
        const take = (found: Compared): void => void (stale || finish({ of: plan, found }));
        compare(plan, text, run).then(take, () => take({ run, against: null, times: 1 }));
        return () => {
            stale = true;
        };
    }, [plan, run]);
    if (!plan || !run) return undefined;
    return done?.of === plan ? done.found : null;
}

// What the text is; null where nothing has been made of it yet. `elsewhere`: it is a link or a name, which others read.
export function useFound(text: string, set: { [name: string]: string }, elsewhere: boolean, importing: Importing): Found | null {
    const [result, setResult] = useState<Found | null>(null);
    useEffect(() => {
        if (isEmpty(text) || elsewhere) return setResult(null);
        let stale = false;
        const take = (found: Found | null): void => void (stale || setResult(found));
        readText(text, set, importing).then(take, () => take(null)); // the page says so: a crash has its own notice
        return () => {
            stale = true;
        };
    }, [text, set]);
    return result;
}
