import './script.css';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Answers, ImportedKey, ImportedPlan, KeyFate, RunRead } from '../core/api';
import { isSaid, say, tell } from '../words/words';

export type Script = Extract<Answers['import_plan'], { ok: true }> & { run?: RunRead }; // what it printed stands below it

interface Props {
    script: Script;
    chosen: number; // of its jobs
    choose(job: number): void;
    set: { readonly [name: string]: string };
    answer(name: string, value: string): void;
    also?: ComponentChildren; // what else is asked
    children?: ComponentChildren; // what is said of a run that is whole
}

const fieldLabel = (key: string): string => tell({ id: `field.${key}` });
const FATES: readonly KeyFate[] = ['used', 'open', 'contradicted', 'unknown', 'no_number'];

const meaning = ({ fate, fields, names, near }: ImportedKey): string => {
    if (near) return `${say('formats.models.near')} ${near}`;
    return fate === 'used' && fields.length > 0
        ? fields.map((field) => (field === 'model' ? say('paste.script.of_model') : fieldLabel(field))).join(', ')
        : names.join(', ');
};

function Keys({ fate, keys }: { fate: KeyFate; keys: ImportedKey[] }) {
    if (keys.length === 0) return null;
    return (
        <details open={fate === 'open' || fate === 'unknown'}>
            <summary>
                {say(`paste.script.fate.${fate}`)} ({keys.length})
            </summary>
            <table>
                <thead>
                    <tr>
                        <th scope="col">{say('paste.script.line')}</th>
                        <th scope="col">{say('paste.script.argument')}</th>
                        <th scope="col">{say('paste.script.means')}</th>
                    </tr>
                </thead>
                <tbody>
                    {keys.map((key, i) => (
                        <tr key={i}>
                            <td>{key.line || ''}</td>
                            <td>
                                <code>
                                    {key.key} {key.value === 'true' ? '' : key.value}
                                </code>
                            </td>
                            <td>{meaning(key)}</td>
                        </tr>
                    ))}
                </tbody>
            </table>
        </details>
    );
}

interface AskProps {
    name: string;
    label: string;
    choices: readonly string[];
    value: string;
    answer(value: string): void;
}

const PAUSE_MS = 400; // after which what was typed counts: nobody finds out that a field must be left for that

// What is being typed stays while the answer to an earlier field is still on its way.
function Ask({ name, label, choices, value, answer }: AskProps) {
    const [draft, setDraft] = useState<string | null>(null);
    const timer = useRef(0);
    const settle = (typed: string) => {
        clearTimeout(timer.current);
        setDraft(null);
        answer(typed);
    };
    const type = (typed: string) => {
        clearTimeout(timer.current);
        setDraft(typed);
        timer.current = window.setTimeout(() => answer(typed), PAUSE_MS);
    };
    useEffect(() => () => clearTimeout(timer.current), []);
    return (
        <label>
            {label}{' '}
            <input
                value={draft ?? value}
                list={choices.length > 0 ? `choices-${name}` : undefined}
                onInput={(event) => type(event.currentTarget.value)}
                onChange={(event) => settle(event.currentTarget.value)}
            />
            {choices.length > 0 && (
                <datalist id={`choices-${name}`}>
                    {choices.map((choice) => (
                        <option key={choice} value={choice} />
                    ))}
                </datalist>
            )}
        </label>
    );
}

interface Field {
    name: string;
    label: string;
    choices: readonly string[];
}

function labelOf(name: string, isField: boolean): string {
    if (name === 'vocab_size') return say('paste.script.vocabulary');
    if (name === 'model') return say('paste.script.of_model');
    return isField ? fieldLabel(name) : `$${name}`;
}

// What the reader can say where the script does not. What was asked once keeps its place and its label: an answer stays there to be changed.
function Questions({ script, job, set, answer, also }: Omit<Props, 'chosen' | 'choose'> & { job: ImportedPlan }) {
    const [known] = useState(() => new Map<string, Field>());
    const names = new Set(job.keys.flatMap((key) => key.names));
    const now = [
        ...job.asked.map((name) => ({ name, choices: [], isField: true })),
        ...script.questions.filter(({ name }) => names.has(name) && !name.startsWith('$(')).map((one) => ({ ...one, isField: false })),
        ...Object.keys(set).map((name) => ({ name, choices: [], isField: isSaid(`field.${name}`) })),
    ];
    for (const { name, choices, isField } of now) if (!known.has(name)) known.set(name, { name, choices, label: labelOf(name, isField) });
    const all = [...known.values()].filter(({ name }) => now.some((one) => one.name === name));
    if (all.length === 0 && !also) return null;
    return (
        <fieldset>
            <legend>{say('paste.script.ask')}</legend>
            {all.map(({ name, label, choices }) => (
                <Ask
                    key={name}
                    name={name}
                    label={label}
                    choices={choices}
                    value={set[name] ?? ''}
                    answer={(value) => answer(name, value)}
                />
            ))}
            {also}
        </fieldset>
    );
}

// What a launch script would start, argument by argument. What an answer brings stands below the fields: they keep their place.
export function ScriptReport({ script, chosen, choose, set, answer, also, children }: Props) {
    const job = script.jobs[chosen] ?? script.jobs[0];
    if (!job) return null;
    return (
        <div class="imported">
            <h3>{say('paste.script.found', { title: job.title, count: script.jobs.length })}</h3>
            {script.jobs.length > 1 && (
                <label>
                    {say('paste.script.which')}{' '}
                    <select value={String(chosen)} onChange={(event) => choose(Number(event.currentTarget.value))}>
                        {script.jobs.map(({ title, line }, i) => (
                            <option key={line} value={String(i)}>
                                {say('paste.script.start', { title, line: String(line) })}
                            </option>
                        ))}
                    </select>
                </label>
            )}
            <Questions script={script} job={job} set={set} answer={answer} also={also} />
            {job.refused.length > 0 && (
                <div class="wrong">
                    <h4>{say('paste.script.refused')}</h4>
                    <ul>
                        {job.refused.map((text) => (
                            <li key={text.id}>{tell(text)}</li>
                        ))}
                    </ul>
                </div>
            )}
            {children}
            {[...(script.complete ? [] : [say('paste.script.incomplete')]), ...job.notes.map(tell)].map((note) => (
                <p key={note} class="note">
                    {note}
                </p>
            ))}
            {FATES.map((fate) => (
                <Keys key={fate} fate={fate} keys={job.keys.filter((key) => key.fate === fate)} />
            ))}
        </div>
    );
}
