import type { ComponentChildren, Ref } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { FoundModel, ImportedPlan, RunRead } from '../core/api';
import programs from '../core/programs.json';
import { format } from '../format/format';
import { type Against, type Cards, RunFound } from '../formats/run-door';
import { type Script, ScriptReport } from '../formats/script';
import { type Also, Unsaid, withAlso } from '../formats/unsaid';
import { problemText } from '../shared/names';
import { isOurs, queryOf } from '../state/link-text';
import { MAX_CONFIG, MAX_LOG } from '../state/state';
import type { Page } from '../store/page';
import { listed, say, tell } from '../words/words';
import { FromHub } from './hub';
import { repositoryOf } from './hub-id';
import {
    type Compare,
    type Config,
    type Found,
    type Importing,
    isPrinted,
    isRun,
    isScript,
    isWhole,
    named,
    useCompared,
    useFound,
    useKnownModel,
} from './pasted';

interface Props {
    start: string;
    importing: Importing;
    use(model: Config): void;
    run(plan: ImportedPlan): void;
    compare: Compare;
    faster(plan: ImportedPlan, script: Script, times?: number): ComponentChildren; // what is said of a run that is whole
    page: Pick<Page, 'job' | 'catalog'>;
    against: Against; // what a run's lines are compared with
    measure(runs: string): void;
    useCards(cards: Cards): void; // those that a run's lines show
    useKnown(model: FoundModel['model']): void; // of a repository that the core knows
    close(): void;
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

interface TextProps {
    text: string;
    field: Ref<HTMLTextAreaElement>;
    wrong: boolean;
    refused: string;
    refuse(why: string): void;
    typed(text: string): void;
    read(text: string): void; // of a file
}

// Where a text is put, or the file that holds it; one that is too large is refused.
function TextOrFile({ text, field, wrong, refused, refuse, typed, read }: TextProps) {
    const accept = (size: number, most: number): boolean => {
        refuse(size > most ? say('notice.too_large', { details: format.megabytes(size) }) : '');
        return size <= most;
    };
    const readFile = async (file: File | undefined) => {
        if (!file || !accept(file.size, MAX_LOG)) return;
        try {
            read(await file.text());
        } catch {
            refuse(say('paste.unreadable_file'));
        }
    };
    return (
        <>
            <textarea
                ref={field}
                aria-label={say('paste.text')}
                aria-describedby="paste-result"
                aria-invalid={refused !== '' || wrong}
                rows={9}
                spellcheck={false}
                placeholder={say('paste.placeholder')}
                value={text.length > MAX_CONFIG ? '' : text}
                onPaste={(event) => {
                    if (!accept(event.clipboardData?.getData('text').length ?? 0, MAX_CONFIG)) event.preventDefault();
                }}
                onInput={(event) => typed(event.currentTarget.value)}
            />
            <label class="file">
                {say('paste.file')}
                <input
                    type="file"
                    accept=".json,.sh,.bash,.slurm,.sbatch,.yaml,.yml,.toml,.py,.txt,.log,.out,.err,application/json,text/plain"
                    onChange={(event) => readFile(event.currentTarget.files?.[0])}
                />
            </label>
        </>
    );
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
    const result = useFound(text, set, link !== null || repository !== null, importing);
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
                <details class="note">
                    <summary>{say('paste.programs', { count: programs.length })}</summary>
                    {listed(programs)}
                </details>
                <TextOrFile
                    {...{ text, field, refused }}
                    wrong={result?.ok === false}
                    refuse={setRefused}
                    typed={(said) => {
                        setCame('');
                        setText(said);
                    }}
                    read={setText}
                />
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
