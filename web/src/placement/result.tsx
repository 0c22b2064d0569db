import { useMemo } from 'preact/hooks';
import type { Binds, Json, Placed, PlacedAt, Problem } from '../core/api';
import type { Core } from '../core/client';
import { entriesOf } from '../core/keys';
import { type Measured, RANKED_KEYS, type UnitSaid } from '../core/types';
import { format } from '../format/format';
import { choiceLabel, labelOf, nameOf, problemText } from '../shared/names';
import { wholePlan } from '../shared/plan-words';
import { stepText } from '../shared/step-text';
import { Table } from '../shared/table';
import type { Value } from '../state/state';
import type { Actions, Page } from '../store/page';
import type { settingsOf } from '../store/ranked';
import { listed, say, sentences, tell } from '../words/words';
import { Curve } from './curve';
import { Files, JobScript } from './files';
import { linksOf, Picture, sign } from './picture';
import { type Found, gridOf, TIE } from './search';
import { type Difference, differencesOf, stagesOf } from './units';

// What was found: how much faster, who stands where, and the files that bring it about.
export type Plan = ReturnType<typeof settingsOf>;

const MOST_DRAWN = 64; // nodes
const MOST_BESIDE = 5; // stages of pictures that have room side by side
const MOST_TOLD = 5; // warnings, and nodes that differ, before the others fold

export function findingOf(answer: Placed): string {
    const { objective, nothing_to_gain, finding, gain_share: gain } = answer;
    const [first] = answer.ranked;
    const own = answer.ranked.find(({ index }) => index === 0);
    if (first && own && first !== own) {
        const [best, was, placed] = [first.best_seconds, own.default_seconds, own.best_seconds].map(stepText) as [string, string, string];
        return say('placement.result.other_faster', { best, was, placed });
    }
    if (nothing_to_gain) return tell(finding);
    const [best, was] = [stepText(answer.best_seconds), stepText(answer.default_seconds)];
    if (objective.id === 'step_time') return say('placement.result.faster', { gain, best, was });
    return say('placement.result.lower', { gain, best, was, label: nameOf('choice.objective', objective) });
}

const span = ([first, last]: [number, number]): string =>
    first === last ? format.count(first + 1) : `${format.count(first + 1)}–${format.count(last + 1)}`;

// What a unit differs in, in words.
const differing = ({ speed, memory_gib }: Difference): string =>
    listed([
        speed !== null && say('placement.result.speed', { share: speed }),
        memory_gib !== null && say('placement.result.memory', { gb: format.nominal(memory_gib) }),
    ]);

const wordsOf = (difference: Difference | undefined): string => (difference ? sign(differing(difference)) : '');

function positionTable({ positions }: Placed, names: readonly string[], differences: ReadonlyMap<number, Difference>): string[][] {
    const some = differences.size > 0;
    return [
        [
            say('placement.result.position'),
            say('placement.result.stage_head'),
            say('placement.result.rank_head'),
            say('placement.result.default_node'),
            say('placement.result.node'),
            ...(some ? [say('placement.result.differs')] : []),
        ],
        ...positions.map(({ position, stages, data_ranks, name, unit }) => [
            format.count(position + 1),
            span(stages),
            span(data_ranks),
            names[position] ?? '',
            name,
            ...(some ? [wordsOf(differences.get(unit))] : []),
        ]),
    ];
}

// Far more nodes than can be drawn: those whose links set the pace.
function drawn(positions: readonly PlacedAt[], binds: Binds): PlacedAt[] {
    if (positions.length <= MOST_DRAWN) return [...positions];
    const ends = new Set(linksOf(binds).flatMap((link) => link.positions));
    return positions.filter(({ position }) => ends.has(position));
}

interface PicturesProps {
    answer: Placed;
    measured: Measured;
    differences: ReadonlyMap<number, Difference>;
}

function Pictures({ answer, measured, differences }: PicturesProps) {
    const { positions, placement } = answer;
    const sides = [
        { title: say('placement.result.before'), units: positions.map(({ position }) => position), binds: answer.critical.default },
        { title: say('placement.result.after'), units: placement, binds: answer.critical.best },
    ];
    return (
        <>
            <div class={new Set(positions.map(({ stages }) => stages[0])).size > MOST_BESIDE ? 'sides stacked' : 'sides'}>
                {sides.map(({ title, units, binds }) => (
                    <Picture
                        key={title}
                        title={title}
                        grid={gridOf(drawn(positions, binds))}
                        units={units}
                        names={units.map((unit) => measured.names[unit] ?? '')}
                        binds={binds}
                        measured={measured}
                        differences={differences}
                    />
                ))}
            </div>
            <p class="note">
                {positions.some(({ stages }) => stages[0] > 0) ? say('placement.result.key') : say('placement.result.key_alone')}{' '}
                {positions.length > MOST_DRAWN && say('placement.result.only_critical', { count: positions.length })}
            </p>
        </>
    );
}

// The first few of a list, the others folded.
function Few({ texts }: { texts: readonly string[] }) {
    const items = (part: readonly string[]) => part.map((text) => <li key={text}>{text}</li>);
    return (
        <>
            <ul>{items(texts.slice(0, MOST_TOLD))}</ul>
            {texts.length > MOST_TOLD && (
                <details>
                    <summary>{say('placement.result.more', { count: texts.length - MOST_TOLD })}</summary>
                    <ul>{items(texts.slice(MOST_TOLD))}</ul>
                </details>
            )}
        </>
    );
}

// Nodes in which the plan does not fit, before anything else is said of the placement.
function Warnings({ warnings }: { warnings: readonly Problem[] }) {
    if (warnings.length === 0) return null;
    return (
        <div class="unfit">
            <Few texts={warnings.map((warning) => `\u00d7 ${problemText(warning)}`)} />
        </div>
    );
}

// Where the nodes that differ ended up.
function Differing({ answer, measured, differences }: PicturesProps) {
    if (differences.size === 0) return null;
    const texts = [...differences].map(([unit, difference]) => {
        const stages = stagesOf(answer, unit);
        const node = { name: measured.names[unit] ?? '', what: differing(difference) };
        return stages ? say('placement.result.differs_in', { ...node, stage: span(stages) }) : say('placement.result.differs_out', node);
    });
    return (
        <div class="differing note">
            <Few texts={texts} />
        </div>
    );
}

// A value of the job in the words of the form.
function told({ catalog }: Page, key: string, value: Json): string {
    const written = typeof value === 'boolean' ? say(value ? 'adjust.yes' : 'adjust.no') : String(value);
    return say('placement.result.sets', {
        label: labelOf(catalog.fields, key),
        value: typeof value === 'number' ? format.number(value) : choiceLabel(catalog, key, written),
    });
}

// Layers spread another way. It was worked out for the plan of the answer, which need not be the one shown.
function Suggestion({ page, act, answer }: { page: Page; act: Actions; answer: Placed }) {
    const { suggestion, job, best_seconds } = answer;
    if (!suggestion) return null;
    const plan = Object.fromEntries(RANKED_KEYS.flatMap((key) => (job?.[key] === undefined ? [] : [[key, job[key] as Value]])));
    const set = { ...plan, ...suggestion.set };
    const label = tell(suggestion.label);
    const done = entriesOf(set).every(([key, value]) => page.answer?.job[key] === value);
    return (
        <div class="suggestion">
            <p>
                {say('placement.result.suggestion', { label, seconds: stepText(suggestion.seconds), was: stepText(best_seconds) })}{' '}
                <button
                    type="button"
                    aria-label={say('placement.result.apply_it', { label })}
                    aria-disabled={done}
                    onClick={() => !done && act.change(set, 'choose')}
                >
                    {done ? say('placement.result.applied') : say('placement.result.apply')}
                </button>
            </p>
            <p class="note">
                {say('placement.result.sets_all', {
                    settings: listed(Object.entries(suggestion.set).map(([key, value]) => told(page, key, value))),
                })}
            </p>
        </div>
    );
}

// The plans of the list, each at its best placement.
function Ranked({ page, act, answer, plans }: { page: Page; act: Actions; answer: Placed; plans: readonly Plan[] }) {
    const [first] = answer.ranked;
    const told = (plan: Plan | undefined): string => (plan ? wholePlan(page.catalog, plan) : '');
    return (
        <div class="joint">
            <h4>
                {first &&
                    (first.index === 0 ? say('placement.result.own') : say('placement.result.other', { plan: told(plans[first.index]) }))}
            </h4>
            <table>
                <thead>
                    <tr>
                        <th scope="col">{say('placement.result.plan')}</th>
                        <th scope="col" class="r">
                            {say('placement.result.plan_before')}
                        </th>
                        <th scope="col" class="r">
                            {say('placement.result.plan_after')}
                        </th>
                        <td />
                    </tr>
                </thead>
                <tbody>
                    {answer.ranked.map(({ index, default_seconds, best_seconds, fits }) => (
                        <tr key={index}>
                            <th scope="row">
                                {told(plans[index])}{' '}
                                <small>
                                    {[index === 0 && say('placement.result.yours'), !fits && say('fit.does_not_fit')]
                                        .filter(Boolean)
                                        .join(', ')}
                                </small>
                            </th>
                            <td class="r">{stepText(default_seconds)}</td>
                            <td class="r">{stepText(best_seconds)}</td>
                            <td class="r">
                                {index > 0 && (
                                    <button
                                        type="button"
                                        class="link"
                                        aria-label={say('placement.result.take_it', { plan: told(plans[index]) })}
                                        onClick={() => act.change(plans[index] ?? {}, 'choose')}
                                    >
                                        {say('placement.result.take')}
                                    </button>
                                )}
                            </td>
                        </tr>
                    ))}
                </tbody>
            </table>
        </div>
    );
}

interface ResultProps {
    page: Page;
    act: Actions;
    found: Found;
    plans: readonly Plan[];
    measured: Measured;
    units: readonly UnitSaid[]; // that differ
    exportPlan: Core['exportPlan'];
    stale: boolean;
}

export function Result({ page, act, found, plans, measured, units, exportPlan, stale }: ResultProps) {
    const { answer, course, searches, agreed, stopped } = found;
    const title = findingOf(answer);
    const other = answer.ranked[0] && answer.ranked[0].index > 0;
    const gain = { low: answer.low_gain_share, high: answer.high_gain_share };
    const differences = useMemo(() => differencesOf(units, measured.names), [answer]);
    const spare = useMemo(() => answer.spare.map((unit) => measured.names[unit] ?? ''), [answer]);
    return (
        <div class={stale ? 'step result-of-placement stale' : 'step result-of-placement'}>
            <h3 class="finding">{title}</h3>
            <Warnings warnings={answer.warnings} />
            <Differing answer={answer} measured={measured} differences={differences} />
            <p class="note">
                {sentences(
                    stopped && say('placement.search.stopped'),
                    !answer.nothing_to_gain && say(other ? 'placement.result.other_band' : 'placement.result.band', gain),
                    !answer.nothing_to_gain && tell(answer.basis),
                )}
            </p>
            {!answer.nothing_to_gain && <Curve course={course} running={false} />}
            <p class="note">
                {sentences(
                    !answer.nothing_to_gain && searches > 1 && say('placement.search.agreed', { agreed, count: searches, tie: TIE }),
                    say('placement.search.searched', {
                        moves: format.rounded(course.moves),
                        rate: format.rounded(course.moves_per_s),
                        seconds: course.seconds,
                        count: searches,
                    }),
                )}
            </p>
            {answer.ranked.length > 0 && <Ranked page={page} act={act} answer={answer} plans={plans} />}
            <Suggestion page={page} act={act} answer={answer} />
            <Pictures answer={answer} measured={measured} differences={differences} />
            <Table
                title={say('placement.result.positions')}
                label={title}
                rows={() => positionTable(answer, measured.names, differences)}
            />
            {spare.length > 0 && <p class="note">{say('placement.result.spare', { names: spare })}</p>}
            {answer.files.length > 0 && <Files files={answer.files} />}
            {answer.files.length > 0 && answer.job && (
                <JobScript job={answer.job} hosts={answer.positions.map(({ name }) => name)} exportPlan={exportPlan} />
            )}
            {answer.units === 'gpus' && <p class="note">{say('placement.result.no_files')}</p>}
        </div>
    );
}
