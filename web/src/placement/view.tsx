// The part "Placement": a measurement of the links, the search for a placement on it, and what to do with the one found.
import './placement.css';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ObjectiveId, Refusal } from '../core/api';
import { type Measured, RANKED_KEYS } from '../core/types';
import { format } from '../format/format';
import { stepText } from '../shared/step-text';
import type { Actions, Page } from '../store/page';
import { planAt, rows, settingsOf } from '../store/ranked';
import { say, sentences } from '../words/words';
import { Curve } from './curve';
import { Matrix } from './map';
import { EMPTY, Formats, Input, Reading, type Source, useReading } from './measure';
import { Problems, Select } from './parts';
import { Rates } from './rates';
import { findingOf, type Plan, Result } from './result';
import { type Course, type Found, findPlacement, type Placer, type Placing, type Search } from './search';
import { filledRows, isOfRow, problemsByRow, type UnitRow, unitsOf } from './units';
import { Units } from './units-table';

const MOST_PLANS = 10; // of the list, placed beside the reader's own
const OBJECTIVES = ['step_time', 'pipette'] as const;
const TIMES = [1, 5, 30] as const; // s

interface Choice {
    objective: ObjectiveId;
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

type Request = Search['request'];

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
                label={say('placement.search.objective')}
                options={OBJECTIVES.map((id) => ({ id, text: say(`placement.search.objectives.${id}`) }))}
                value={choice.objective}
                choose={(objective) => choose({ ...choice, objective })}
            />
            <Select
                label={say('placement.search.time')}
                options={TIMES.map((seconds) => ({ id: String(seconds), text: say('placement.search.seconds', { count: seconds }) }))}
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
                    {say('placement.search.joint', { count: others })}
                </label>
            )}
        </div>
    );
}

function Running({ course, stop }: { course: Course | 'starting'; stop(): void }) {
    const counted =
        course === 'starting' || course.points.length === 0
            ? say('placement.search.starting')
            : say('placement.search.running', {
                  best: stepText(course.best_seconds),
                  was: stepText(course.default_seconds),
                  moves: format.rounded(course.moves),
                  rate: format.rounded(course.moves_per_s),
              });
    return (
        <>
            <p class="acts">
                <button type="button" onClick={stop}>
                    {say('placement.search.stop')}
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
    placing: Placing;
    rows: readonly UnitRow[];
    setRows(rows: UnitRow[]): void;
}

function Searching({ page, act, measured, placing, rows, setRows }: SearchProps) {
    const [choice, choose] = useState<Choice>({ objective: 'step_time', seconds: 5, joint: false });
    const { course, outcome, start, stop } = useSearch(placing.placers);
    const [wanted, want] = useState(0);
    useEffect(() => stop, [measured]);
    const { answer } = page;
    if (!answer || page.problems.length > 0) return <p class="note">{say('placement.search.no_run')}</p>;
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
                <h3>{say('placement.search.title')}</h3>
                <Controls choice={choice} choose={choose} others={listed.length - 1} />
                {choice.objective === 'pipette' && (
                    <p class="note">{sentences(say('placement.search.objective_note'), deaf && say('placement.search.no_speed'))}</p>
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
                            {outcome ? say('placement.search.again') : say('placement.search.start')}
                        </button>
                        {stale && <span class="note">{say('placement.result.stale')}</span>}
                    </p>
                )}
                <div role="status">
                    {found && typeof found === 'object' && 'answer' in found && <p class="sr">{findingOf(found.answer)}</p>}
                    {found === 'nothing' && <p>{say('placement.search.nothing')}</p>}
                    {found === 'crashed' && <p>{say('placement.search.crashed')}</p>}
                    {ofRows.size > 0 && (
                        <p class="unfit">
                            {say('placement.units.wrong', { count: ofRows.size, gpus: measured.gpus })}{' '}
                            <button type="button" class="link" onClick={() => want(wanted + 1)}>
                                {say('placement.units.show')}
                            </button>
                        </p>
                    )}
                    {others.length > 0 && <Problems title={say('placement.search.refused', { count: others.length })} problems={others} />}
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
                    exportPlan={placing.exportPlan}
                    stale={stale}
                />
            )}
        </>
    );
}

export function PlacementView({ page, act, placing }: { page: Page; act: Actions; placing: Placing }) {
    const [source, set] = useState<Source>(EMPTY);
    const [rows, setRows] = useState<UnitRow[]>([]); // they stay when the measurement changes
    const { read, reading } = useReading(source, placing.measure);
    const known = read && read !== 'crashed' && read.ok ? read : null;
    const measured = known && 'names' in known ? known : null;
    return (
        <>
            <div class="step">
                <h3>{say('placement.measure.title')}</h3>
                <Formats />
                <Input source={source} set={set} invalid={read !== null && read !== 'crashed' && !read.ok} />
                <p class="note">{say('placement.measure.stays')}</p>
                <Reading read={read} reading={reading} source={source} />
                {known && !source.example && <Rates read={known} page={page} act={act} />}
            </div>
            {measured && (
                <div class="step">
                    <Matrix measured={measured} />
                </div>
            )}
            {measured && <Searching page={page} act={act} measured={measured} placing={placing} rows={rows} setRows={setRows} />}
        </>
    );
}
