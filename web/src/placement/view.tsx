// The part "Placement": a measurement of the links, the search for a placement on it, and what to do with the one found.
import './placement.css';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type LinksSaid, type Measured, type Problem, RANKED_KEYS, type Refusal, type UnitSaid } from '../core/api';
import { latestOnly } from '../core/client';
import { format } from '../format/format';
import { p } from '../i18n/placement';
import type { Actions, Page } from '../store/page';
import { planAt, rows, settingsOf } from '../store/ranked';
import { Curve } from './curve';
import { Matrix } from './map';
import { findingOf, type Plan, Result } from './result';
import { type Course, exampleText, type Found, findPlacement, type Placer, type Placing } from './search';
import { filledRows, isOfRow, problemsByRow, type UnitRow, unitsOf } from './units';
import { Units } from './units-table';

const CALM_MS = 300; // a line that is being typed is no mistake yet
const MOST_TYPED = 200_000; // characters that a field lays out at once; a longer measurement is held unseen
const MOST_BYTES = 33_000_000; // of a file; the core takes a little less, and says so
const MOST_SHOWN = 20; // problems
const MOST_PLANS = 10; // of the list, placed beside the reader's own
const TIMES = [1, 5, 30] as const; // s

interface Source {
    text: string;
    said: LinksSaid;
    file: string | null; // the name of one that is too long to be shown
    example: boolean;
}
const EMPTY: Source = { text: '', said: { unit: 'auto', units: 'auto' }, file: null, example: false };

type Read = Measured | Refusal | 'crashed' | null;

// Asks for the newest text only; what is shown belongs to the source beside it.
function useReading(source: Source, measure: Placing['measure']): { read: Read; reading: boolean } {
    const [known, learn] = useState<{ source: Source; read: Read }>({ source, read: null });
    const newest = useRef(source);
    newest.current = source;
    const asking = useRef<((source: Source) => void) | undefined>(undefined);
    useEffect(() => {
        if (source.text.trim() === '') {
            learn({ source, read: null });
            return;
        }
        asking.current ??= latestOnly(
            ({ text, said }: Source): Promise<Read> => measure(text, said),
            (read, of) => of === newest.current && learn({ source: of, read }),
            () => learn({ source: newest.current, read: 'crashed' }),
        );
        const timer = setTimeout(() => asking.current?.(source), CALM_MS);
        return () => clearTimeout(timer);
    }, [source]);
    return { read: known.read, reading: known.source !== source };
}

interface SelectProps {
    label: string;
    options: Readonly<Record<string, string>>;
    value: string;
    choose(value: string): void;
}

function Select({ label, options, value, choose }: SelectProps) {
    return (
        <label>
            {label}{' '}
            <select value={value} onChange={({ currentTarget }) => choose(currentTarget.value)}>
                {Object.entries(options).map(([id, text]) => (
                    <option key={id} value={id} selected={id === value}>
                        {text}
                    </option>
                ))}
            </select>
        </label>
    );
}

export function Problems({ title, problems }: { title: string; problems: readonly Problem[] }) {
    const shown = problems.slice(0, MOST_SHOWN);
    const more = problems.length - shown.length;
    return (
        <div class="wrong">
            <h4>{title}</h4>
            <ul>
                {shown.map((problem) => (
                    <li key={problem.field + problem.rule + problem.message}>
                        {problem.message} {problem.suggestion}
                    </li>
                ))}
                {more > 0 && <li>{p.measure.others(format.count(more))}</li>}
            </ul>
        </div>
    );
}

function Formats() {
    return (
        <details>
            <summary>{p.measure.understood}</summary>
            <dl class="formats note">
                {p.measure.formats.map(([name, how]) => (
                    <div key={name}>
                        <dt>{name}</dt>
                        <dd>{how}</dd>
                    </div>
                ))}
            </dl>
        </details>
    );
}

interface InputProps {
    source: Source;
    set(source: Source): void;
    invalid: boolean;
}

function Input({ source, set, invalid }: InputProps) {
    const [over, setOver] = useState(false);
    const take = async (file: File | undefined) => {
        if (!file) return;
        const text = await file.slice(0, MOST_BYTES).text();
        set({ ...EMPTY, text, file: text.length > MOST_TYPED ? file.name : null });
    };
    return (
        // biome-ignore lint/a11y/useSemanticElements: a field and what stands beside it, no form
        <div
            role="group"
            aria-label={p.measure.title}
            class={over ? 'drop over' : 'drop'}
            onDragOver={(event) => {
                event.preventDefault();
                setOver(true);
            }}
            onDragLeave={() => setOver(false)}
            onDrop={(event) => {
                // Elsewhere on the page a dropped file is a model's config.
                event.preventDefault();
                event.stopPropagation();
                setOver(false);
                take(event.dataTransfer?.files[0]);
            }}
        >
            {source.file ? (
                <p class="held">{p.measure.held(source.file, format.megabytes(source.text.length))}</p>
            ) : (
                <textarea
                    aria-label={p.measure.label}
                    aria-describedby="links-read"
                    aria-invalid={invalid}
                    placeholder={p.measure.label}
                    rows={8}
                    spellcheck={false}
                    wrap="off"
                    value={source.text}
                    onInput={({ currentTarget: { value } }) =>
                        set({ ...source, text: value, example: false, file: value.length > MOST_TYPED ? p.measure.pasted : null })
                    }
                />
            )}
            <Choices source={source} set={set} take={take} />
        </div>
    );
}

function Choices({ source, set, take }: Omit<InputProps, 'invalid'> & { take(file: File | undefined): void }) {
    const { said } = source;
    const picker = useRef<HTMLInputElement>(null);
    return (
        <div class="row acts">
            <button type="button" onClick={() => picker.current?.click()}>
                {p.measure.file}
            </button>
            <input
                ref={picker}
                class="sr"
                type="file"
                tabIndex={-1}
                aria-hidden="true"
                onChange={({ currentTarget }) => {
                    take(currentTarget.files?.[0]);
                    currentTarget.value = '';
                }}
            />
            {source.text === '' ? (
                <button type="button" onClick={() => set({ ...EMPTY, text: exampleText(), example: true })}>
                    {p.measure.example}
                </button>
            ) : (
                <button type="button" onClick={() => set(EMPTY)}>
                    {p.measure.clear}
                </button>
            )}
            <Select
                label={p.measure.unit}
                options={p.measure.units}
                value={said.unit}
                choose={(unit) => set({ ...source, said: { ...said, unit } })}
            />
            <Select
                label={p.measure.rows}
                options={p.measure.rowsAre}
                value={said.units}
                choose={(units) => set({ ...source, said: { ...said, units } })}
            />
        </div>
    );
}

function Reading({ read, reading, source }: { read: Read; reading: boolean; source: Source }) {
    return (
        <div id="links-read" class="proposal" role="status">
            {source.example && <p class="note">{p.measure.exampleNote}</p>}
            {reading && source.text !== '' && read === null && <p class="note">{p.measure.reading}</p>}
            {read === 'crashed' && <p>{p.measure.crashed}</p>}
            {read && read !== 'crashed' && !read.ok && (
                <Problems title={p.measure.unreadable(read.problems.length)} problems={read.problems} />
            )}
            {read && read !== 'crashed' && read.ok && (
                <p class="note">
                    {p.measure.read(
                        read.format.label,
                        format.count(read.names.length),
                        read.gpus,
                        p.measure.unitOf(p.measure.units[read.unit] ?? read.unit, read.unit_source),
                    )}
                </p>
            )}
        </div>
    );
}

interface Choice {
    objective: string;
    seconds: number;
    joint: boolean; // the list's next plans are placed as well
}

interface Outcome {
    of: string; // the request that it answers
    found: Found | Refusal | 'nothing' | 'crashed';
    measured: Measured;
    plans: readonly Plan[]; // that were placed, when more than the reader's own
    rows: readonly UnitRow[]; // of the nodes that differ, one for each of the request's units
}

interface Request {
    objective: string;
    units?: UnitSaid[];
}

const keyOf = (request: Request, plans: readonly Plan[]): string => JSON.stringify([request, plans]);

// One search at a time; another one, or another measurement, ends it.
function useSearch(placers: readonly Placer[]) {
    const [course, setCourse] = useState<Course | 'starting' | null>(null);
    const [outcome, setOutcome] = useState<Outcome | null>(null);
    const running = useRef<AbortController | null>(null);
    const start = async (asked: Omit<Outcome, 'of' | 'found'> & { request: Request; seconds: number }): Promise<void> => {
        const { request, seconds, plans, measured, rows } = asked;
        const mine = new AbortController();
        running.current = mine;
        setOutcome(null);
        setCourse('starting');
        const told = (next: Course): void => {
            if (running.current === mine) setCourse(next);
        };
        let found: Outcome['found'];
        try {
            found =
                (await findPlacement({
                    placers,
                    request,
                    ...(plans.length > 0 && { candidates: plans }),
                    links: measured,
                    seconds,
                    told,
                    signal: mine.signal,
                })) ?? 'nothing';
        } catch {
            found = 'crashed';
        }
        for (const placer of placers) placer.end(); // a large matrix takes memory that an instance never gives back
        if (running.current !== mine) return;
        running.current = null;
        setCourse(null);
        setOutcome({ of: keyOf(request, plans), found, measured, plans, rows });
    };
    return { course, outcome, start, stop: () => running.current?.abort() };
}

// The reader's plan, then the first ones of the list of best configurations that are another.
function plansToPlace({ answer, ranking: { ranked } }: Page): Plan[] {
    if (!answer || !ranked || ranked.gpus !== answer.job.gpus) return [];
    const own = Object.fromEntries(RANKED_KEYS.map((key) => [key, answer.job[key]])) as Plan;
    const listed = Array.from({ length: Math.min(rows(ranked), MOST_PLANS + 1) }, (_, row) => settingsOf(planAt(ranked, row)));
    const others = listed.filter((plan) => RANKED_KEYS.some((key) => plan[key] !== own[key])).slice(0, MOST_PLANS);
    return [own, ...others];
}

function Controls({ choice, choose, others }: { choice: Choice; choose(choice: Choice): void; others: number }) {
    return (
        <div class="row">
            <Select
                label={p.search.objective}
                options={p.search.objectives}
                value={choice.objective}
                choose={(objective) => choose({ ...choice, objective })}
            />
            <Select
                label={p.search.time}
                options={Object.fromEntries(TIMES.map((seconds) => [seconds, p.search.seconds(seconds)]))}
                value={String(choice.seconds)}
                choose={(seconds) => choose({ ...choice, seconds: Number(seconds) })}
            />
            {others > 0 && (
                <label class="check">
                    <input
                        type="checkbox"
                        checked={choice.joint}
                        onChange={({ currentTarget }) => choose({ ...choice, joint: currentTarget.checked })}
                    />{' '}
                    {p.search.joint(others, format.count(others))}
                </label>
            )}
        </div>
    );
}

function Running({ course, stop }: { course: Course | 'starting'; stop(): void }) {
    const counted =
        course === 'starting' || course.points.length === 0
            ? p.search.starting
            : p.search.running(
                  format.step(course.best_seconds),
                  format.step(course.default_seconds),
                  format.rounded(course.moves),
                  format.rounded(course.moves_per_s),
              );
    return (
        <>
            <p class="acts">
                <button type="button" onClick={stop}>
                    {p.search.stop}
                </button>
                <span class="note">{counted}</span>
            </p>
            {course !== 'starting' && course.points.length > 2 && <Curve course={course} running />}
        </>
    );
}

interface SearchProps {
    page: Page;
    act: Actions;
    measured: Measured;
    placers: readonly Placer[];
    rows: readonly UnitRow[];
    setRows(rows: UnitRow[]): void;
}

function Search({ page, act, measured, placers, rows, setRows }: SearchProps) {
    const [choice, choose] = useState<Choice>({ objective: 'step_time', seconds: 5, joint: false });
    const { course, outcome, start, stop } = useSearch(placers);
    const [wanted, want] = useState(0);
    useEffect(() => stop, [measured]);
    const { answer } = page;
    if (!answer || page.problems.length > 0) return <p class="note">{p.search.noRun}</p>;
    const units = unitsOf(rows);
    const request: Request = { ...answer.job, objective: choice.objective, ...(units.length > 0 && { units }) };
    const listed = plansToPlace(page);
    const plans = choice.joint && listed.length > 1 ? listed : [];
    const stale = outcome !== null && (outcome.of !== keyOf(request, plans) || outcome.measured !== measured);
    const found = outcome?.found;
    const refused = found && typeof found === 'object' && 'ok' in found ? found.problems : [];
    const ofRows = problemsByRow(outcome?.measured === measured ? refused : [], outcome?.rows ?? [], rows);
    const others = refused.filter((problem) => !isOfRow(problem));
    const deaf = choice.objective === 'pipette' && units.some(({ speed = 1 }) => speed !== 1);
    return (
        <>
            <Units rows={rows} set={setRows} measured={measured} card={answer.gpu.memory_gib} problems={ofRows} wanted={wanted} />
            <div class="step">
                <h3>{p.search.title}</h3>
                <Controls choice={choice} choose={choose} others={listed.length - 1} />
                {choice.objective === 'pipette' && (
                    <p class="note">
                        {p.search.objectiveNote} {deaf && p.units.noSpeed}
                    </p>
                )}
                {course ? (
                    <Running course={course} stop={stop} />
                ) : (
                    <p class="acts">
                        <button
                            type="button"
                            class="prime"
                            onClick={() => start({ request, plans, measured, seconds: choice.seconds, rows: filledRows(rows) })}
                        >
                            {outcome ? p.search.again : p.search.start}
                        </button>
                        {stale && <span class="note">{p.result.stale}</span>}
                    </p>
                )}
                <div role="status">
                    {found && typeof found === 'object' && 'answer' in found && <p class="sr">{findingOf(found.answer)}</p>}
                    {found === 'nothing' && <p>{p.search.nothing}</p>}
                    {found === 'crashed' && <p>{p.search.crashed}</p>}
                    {ofRows.size > 0 && (
                        <p class="unfit">
                            {p.units.wrong(ofRows.size, format.count(ofRows.size), measured.gpus)}{' '}
                            <button type="button" class="link" onClick={() => want(wanted + 1)}>
                                {p.units.show}
                            </button>
                        </p>
                    )}
                    {others.length > 0 && <Problems title={p.search.refused(others.length)} problems={others} />}
                </div>
            </div>
            {outcome && found && typeof found === 'object' && 'answer' in found && (
                <Result
                    page={page}
                    act={act}
                    found={found}
                    plans={outcome.plans}
                    measured={outcome.measured}
                    units={unitsOf(outcome.rows)}
                    stale={stale}
                />
            )}
        </>
    );
}

export function PlacementView({ page, act, placing: { measure, placers } }: { page: Page; act: Actions; placing: Placing }) {
    const [source, set] = useState<Source>(EMPTY);
    const [rows, setRows] = useState<UnitRow[]>([]); // they stay when the measurement changes
    const { read, reading } = useReading(source, measure);
    const measured = read && read !== 'crashed' && read.ok ? read : null;
    return (
        <>
            <div class="step">
                <h3>{p.measure.title}</h3>
                <Formats />
                <Input source={source} set={set} invalid={read !== null && read !== 'crashed' && !read.ok} />
                <p class="note">{p.measure.stays}</p>
                <Reading read={read} reading={reading} source={source} />
            </div>
            {measured && (
                <div class="step">
                    <Matrix measured={measured} />
                </div>
            )}
            {measured && <Search page={page} act={act} measured={measured} placers={placers} rows={rows} setRows={setRows} />}
        </>
    );
}
