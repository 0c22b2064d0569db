import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Answers, FoundModel, Imported, ImportedPlan, RunRead } from '../core/api';
import type { Core } from '../core/client';
import { format } from '../format/format';
import { isLog } from '../formats/is-log';
import { type Against, type Cards, type Compared, RunFound } from '../formats/run-door';
import { type Script, ScriptReport } from '../formats/script';
import { type Also, Unsaid, withAlso } from '../formats/unsaid';
import { problemText } from '../shared/names';
import { isOurs, queryOf } from '../state/link-text';
import { MAX_CONFIG, MAX_LOG } from '../state/state';
import type { Page } from '../store/page';
import { say, tell } from '../words/words';
import { FromHub } from './hub';
import { repositoryOf, sameRepository } from './hub-id';

export type Importing = Pick<Core, 'importConfig' | 'importPlan' | 'findModels'> & { readRun(text: string): Promise<Answers['read_run']> };
type Refused = Extract<Answers['import_plan'], { ok: false }>;
type Config = Extract<Imported, { ok: true }>;

interface Props {
    start: string;
    importing: Importing;
    use(model: Config): void;
    run(plan: ImportedPlan): void;
    compare(plan: ImportedPlan, text: string, run: RunRead): Promise<Compared>; // what a script's run printed, with that run
    faster(plan: ImportedPlan, script: Script, times?: number): ComponentChildren; // what is said of a run that is whole
    page: Pick<Page, 'job' | 'catalog'>;
    against: Against; // what a run's lines are compared with
    measure(runs: string): void;
    useCards(cards: Cards): void; // those that a run's lines show
    useKnown(model: FoundModel['model']): void; // of a repository that the core knows
    close(): void;
}

const isEmpty = (text: string): boolean => text.trim() === '';
// A model's config is JSON; of other JSON, DeepSpeed's says how a run is split.
const isConfig = (text: string): boolean =>
    /^\s*[{["]/.test(text) &&
    !/^\s*(\[\w|\{')/.test(text) && // a log
    !/"(zero_optimization|train_batch_size|train_micro_batch_size_per_gpu|gradient_accumulation_steps)"/.test(text);
// Without these it would be another run.
const NEEDED = ['model', 'gpus', 'sequence_length'];
const isWhole = ({ asked, keys }: ImportedPlan): boolean =>
    asked.length === 0 && !keys.some(({ fate, fields }) => fate === 'open' && fields.some((field) => NEEDED.includes(field)));
type Found = Imported | Refused | Script | RunRead;
const isScript = (result: Found): result is Script => 'jobs' in result;
const isRun = (result: Found): result is RunRead => 'printers' in result;
const isPrinted = (result: Found): boolean => isRun(result) || (!result.ok && isLog(result)); // there is nothing to use

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
function named(model: Config, repository: string): Config {
    const name = repository.slice(repository.indexOf('/') + 1);
    return name === '' || model.label !== '' ? model : { ...model, label: name, model: { ...model.model, _name_or_path: name } };
}

function Names({ title, names }: { title: string; names: string[] }) {
    if (names.length === 0) return null;
    return (
        <>
            <dt>{title}</dt>
            <dd>
                {names.map((name) => (
                    <code key={name}>{name}</code>
                ))}
            </dd>
        </>
    );
}

function Report({ result }: { result: Exclude<Found, Script | RunRead> }) {
    if (!result.ok) {
        return (
            <div class="wrong">
                <h3>{say('paste.problems', { count: result.problems.length })}</h3>
                <ul>
                    {result.problems.map((problem) => (
                        <li key={problem.field + problem.rule}>{problemText(problem)}</li>
                    ))}
                </ul>
            </div>
        );
    }
    return (
        <>
            <h3>{say('paste.found', { label: result.label || say('form.own_model'), parameters: result.parameters })}</h3>
            <dl>
                {result.assumed.length > 0 && (
                    <>
                        <dt>{say('paste.assumed')}</dt>
                        <dd>
                            {result.assumed.map(({ key, value, why }) => (
                                <p key={key}>
                                    <code>
                                        {key}: {JSON.stringify(value)}
                                    </code>{' '}
                                    {tell(why)}
                                </p>
                            ))}
                        </dd>
                    </>
                )}
                <Names title={say('paste.used')} names={result.used} />
                <Names title={say('paste.ignored')} names={result.ignored} />
            </dl>
        </>
    );
}

// The core's own model of that repository; null: it has none, undefined: it is being asked.
function useKnownModel(repository: string | null, findModels: Core['findModels']): FoundModel | null | undefined {
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
function useCompared(script: Script | null, plan: ImportedPlan | undefined, text: string, compare: Props['compare']) {
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

export function PasteDialog(props: Props) {
    const { start, importing, use, run, page, against, measure, useCards, compare, faster, useKnown, close } = props;
    const dialog = useRef<HTMLDialogElement>(null);
    const field = useRef<HTMLTextAreaElement>(null);
    const [text, setText] = useState(start);
    const [refused, setRefused] = useState('');
    const [set, setSet] = useState<{ [name: string]: string }>({});
    const [also, setAlso] = useState<Also>({});
    const [chosen, choose] = useState(0);
    const [came, setCame] = useState(''); // the repository that the text is from
    const query = queryOf(text);
    const link = query !== null && isOurs(query) ? query : null;
    const repository = link === null ? repositoryOf(text) : null;
    const known = useKnownModel(repository, importing.findModels);
    const [result, setResult] = useState<Found | null>(null);
    useEffect(() => {
        const box = dialog.current;
        box?.showModal();
        return () => {
            if (!box?.open) return; // cancelled: who opened it has the focus again
            box.close();
            document.getElementById('answer')?.focus();
        };
    }, []);
    useEffect(() => {
        setText(start);
    }, [start]);
    useEffect(() => {
        if (isEmpty(text) || link !== null || repository !== null) return setResult(null);
        let stale = false;
        readText(text, set, importing).then(
            (answer) => !stale && setResult(answer),
            () => !stale && setResult(null), // the page says so: a crash has its own notice
        );
        return () => {
            stale = true;
        };
    }, [text, set]);
    const script = result !== null && isScript(result) ? result : null;
    const read = script?.jobs[chosen] ?? script?.jobs[0];
    const plan = useMemo(() => read && withAlso(read, also), [read, also]);
    const compared = useCompared(script, plan && isWhole(plan) ? plan : undefined, text, compare);
    const usable = link !== null || (plan ? isWhole(plan) : result?.ok === true && !isRun(result));
    const printed = result && isRun(result) ? result : script?.run;
    const submit = (): void => {
        if (link !== null) location.assign(link);
        else if (plan && usable) run(plan);
        else if (result?.ok && !isScript(result) && !isRun(result)) use(named(result, came));
    };

    // True when the text is small enough to be taken into the field.
    const accept = (size: number, most: number): boolean => {
        setRefused(size > most ? say('notice.too_large', { details: format.megabytes(size) }) : '');
        return size <= most;
    };
    const readFile = async (file: File | undefined) => {
        if (!file || !accept(file.size, MAX_LOG)) return;
        try {
            setText(await file.text());
        } catch {
            setRefused(say('paste.unreadable_file'));
        }
    };
    const take = (config: string): void => {
        setCame(repository ?? '');
        setText(config);
        field.current?.focus();
    };
    const message = refused || (link !== null ? say('paste.link') : result === null && repository === null ? say('paste.waiting') : '');
    return (
        <dialog ref={dialog} class="paste-dialog" aria-labelledby="paste-title" onClose={close}>
            <form
                method="dialog"
                onSubmit={(event) => {
                    event.preventDefault();
                    submit();
                }}
            >
                <h2 id="paste-title">{say('paste.title')}</h2>
                <p class="note">{say('paste.intro')}</p>
                <textarea
                    ref={field}
                    aria-label={say('paste.text')}
                    aria-describedby="paste-result"
                    aria-invalid={refused !== '' || result?.ok === false}
                    rows={9}
                    spellcheck={false}
                    placeholder={say('paste.placeholder')}
                    value={text.length > MAX_CONFIG ? '' : text}
                    onPaste={(event) => {
                        if (!accept(event.clipboardData?.getData('text').length ?? 0, MAX_CONFIG)) event.preventDefault();
                    }}
                    onInput={(event) => {
                        setCame('');
                        setText(event.currentTarget.value);
                    }}
                />
                <label class="file">
                    {say('paste.file')}
                    <input
                        type="file"
                        accept=".json,.sh,.bash,.slurm,.sbatch,.yaml,.yml,.toml,.py,.txt,.log,.out,.err,application/json,text/plain"
                        onChange={(event) => readFile(event.currentTarget.files?.[0])}
                    />
                </label>
                <div id="paste-result" class="report" role="status">
                    {message && <p class={refused ? 'wrong' : 'note'}>{message}</p>}
                    {repository !== null && known === undefined && <p class="note">{say('later.coming')}</p>}
                    {repository !== null && known !== undefined && (
                        <FromHub
                            key={repository}
                            repository={repository}
                            builtIn={known && { label: known.label, use: () => useKnown(known.model) }}
                            take={take}
                        />
                    )}
                    {came !== '' && <p class="note">{say('hub.came', { repository: came })}</p>}
                    {compared === null && <p class="note">{say('later.coming')}</p>}
                    {printed && compared !== null && (
                        <RunFound {...{ run: printed, page, against, asks: script !== null, measure, useCards, ...compared }} />
                    )}
                    {result && !isScript(result) && !isRun(result) && <Report result={result.ok ? named(result, came) : result} />}
                    {script && (
                        <ScriptReport
                            script={script}
                            chosen={chosen}
                            choose={choose}
                            set={set}
                            answer={(name, value) => setSet({ ...set, [name]: value })}
                            also={read && <Unsaid page={page} plan={read} also={also} answer={setAlso} />}
                        >
                            {plan && usable && compared !== null && faster(plan, script, compared?.times)}
                        </ScriptReport>
                    )}
                </div>
                <p class="acts">
                    <button type="button" onClick={() => dialog.current?.close()}>
                        {say('paste.cancel')}
                    </button>
                    {!(result && isPrinted(result)) && (
                        <button type="submit" class="prime" aria-disabled={!usable}>
                            {say(link !== null ? 'paste.open' : script ? 'paste.script.use' : 'paste.use')}
                        </button>
                    )}
                </p>
            </form>
        </dialog>
    );
}
