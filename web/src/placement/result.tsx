import { useEffect, useMemo, useState } from 'preact/hooks';
import {
    type Binds,
    type Json,
    type Measured,
    type Placed,
    type PlacedAt,
    type PlaceFile,
    type Problem,
    RANKED_KEYS,
    type UnitSaid,
} from '../core/api';
import { format } from '../format/format';
import { p } from '../i18n/placement';
import { CopyButton } from '../shared/copy-button';
import { labelOf, wholePlan } from '../shared/sentences';
import { Table } from '../shared/table';
import type { Value } from '../state/state';
import type { Actions, Page } from '../store/page';
import type { settingsOf } from '../store/ranked';
import { Curve } from './curve';
import { linksOf, Picture } from './picture';
import { type Found, gridOf } from './search';
import { type Difference, differencesOf, stagesOf } from './units';

// What was found: how much faster, who stands where, and the files that bring it about.
export type Plan = ReturnType<typeof settingsOf>;

const MOST_DRAWN = 64; // nodes
const MOST_BESIDE = 5; // stages of pictures that have room side by side
const MOST_TOLD = 5; // warnings, and nodes that differ, before the others fold

export function findingOf(answer: Placed): string {
    const { objective, nothing_to_gain, finding, gain_share, best_seconds, default_seconds } = answer;
    const [first] = answer.ranked;
    const own = answer.ranked.find(({ index }) => index === 0);
    if (first && own && first !== own)
        return p.result.otherFaster(format.step(first.best_seconds), format.step(own.default_seconds), format.step(own.best_seconds));
    if (nothing_to_gain) return finding;
    const [gain, best, was] = [format.percent(gain_share), format.step(best_seconds), format.step(default_seconds)];
    return objective.id === 'step_time' ? p.result.faster(gain, best, was) : p.result.lower(gain, best, was, objective.label);
}

// A browser saves what a link points at; the text becomes an address when it is wanted.
function Download({ file }: { file: PlaceFile }) {
    const [url, setUrl] = useState('');
    useEffect(() => {
        const made = URL.createObjectURL(new Blob([file.text], { type: 'text/plain' }));
        setUrl(made);
        return () => URL.revokeObjectURL(made);
    }, [file]);
    return (
        <a class="button" href={url} download={file.name}>
            {p.result.download(file.name)}
        </a>
    );
}

function Files({ files }: { files: PlaceFile[] }) {
    return (
        <div class="files">
            <h4>{p.result.files}</h4>
            {files.map((file) => (
                <details key={file.id} class="behind">
                    <summary>{[p.result.launchers[file.id], file.name].filter(Boolean).join(': ')}</summary>
                    <p class="note">{file.how}</p>
                    <p class="acts">
                        <CopyButton label={p.result.copy(file.name)} text={() => file.text} />
                        <Download file={file} />
                    </p>
                    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reached by the keyboard */}
                    <pre tabIndex={0}>{file.text}</pre>
                </details>
            ))}
        </div>
    );
}

const span = ([first, last]: [number, number]): string =>
    first === last ? format.count(first + 1) : `${format.count(first + 1)}–${format.count(last + 1)}`;

// What a unit differs in, in words.
function partsOf({ speed, memory_gib }: Difference): string[] {
    return [
        speed !== null && p.result.speed(format.percent(speed)),
        memory_gib !== null && p.result.memory(format.nominal(memory_gib)),
    ].filter((part) => part !== false);
}

const wordsOf = (difference: Difference | undefined): string =>
    difference ? `${p.result.sign} ${p.result.briefly(partsOf(difference))}` : '';

function positionTable({ positions }: Placed, names: readonly string[], differences: ReadonlyMap<number, Difference>): string[][] {
    const some = differences.size > 0;
    return [
        [
            p.result.position,
            p.result.stageHead,
            p.result.rankHead,
            p.result.defaultNode,
            p.result.node,
            ...(some ? [p.result.differs] : []),
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
        { title: p.result.before, units: positions.map(({ position }) => position), binds: answer.critical.default },
        { title: p.result.after, units: placement, binds: answer.critical.best },
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
                {positions.some(({ stages }) => stages[0] > 0) ? p.result.key : p.result.keyAlone}{' '}
                {positions.length > MOST_DRAWN && p.result.onlyCritical(format.count(positions.length))}
            </p>
        </>
    );
}

// The first few of a list, the others folded.
function Few({ texts, more }: { texts: readonly string[]; more(count: string): string }) {
    const items = (part: readonly string[]) => part.map((text) => <li key={text}>{text}</li>);
    return (
        <>
            <ul>{items(texts.slice(0, MOST_TOLD))}</ul>
            {texts.length > MOST_TOLD && (
                <details>
                    <summary>{more(format.count(texts.length - MOST_TOLD))}</summary>
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
            <Few texts={warnings.map(({ message, suggestion }) => `\u00d7 ${message} ${suggestion}`)} more={p.result.moreUnfit} />
        </div>
    );
}

// Where the nodes that differ ended up.
function Differing({ answer, measured, differences }: PicturesProps) {
    if (differences.size === 0) return null;
    const texts = [...differences].map(([unit, difference]) => {
        const stages = stagesOf(answer, unit);
        const named = [`${p.result.sign} ${measured.names[unit] ?? ''}`, p.result.briefly(partsOf(difference))] as const;
        return stages ? p.result.differsIn(...named, span(stages)) : p.result.differsOut(...named);
    });
    return (
        <div class="differing note">
            <Few texts={texts} more={p.result.moreUnfit} />
        </div>
    );
}

// A value of the job in the words of the form.
function told({ catalog: { fields } }: Page, key: string, value: Json): string {
    const field = fields.find((one) => one.key === key);
    const chosen = field?.type === 'choice' && field.choices.find(({ id }) => id === value)?.label;
    const written =
        typeof value === 'boolean'
            ? value
                ? p.result.yes
                : p.result.no
            : typeof value === 'number'
              ? format.number(value)
              : String(value);
    return p.result.sets(labelOf(fields, key), chosen || written);
}

// Layers spread another way. It was worked out for the plan of the answer, which need not be the one shown.
function Suggestion({ page, act, answer }: { page: Page; act: Actions; answer: Placed }) {
    const { suggestion, job, best_seconds } = answer;
    if (!suggestion) return null;
    const plan = Object.fromEntries(RANKED_KEYS.flatMap((key) => (job[key] === undefined ? [] : [[key, job[key] as Value]])));
    const set = { ...plan, ...suggestion.set };
    const done = Object.entries(set).every(([key, value]) => page.answer?.job[key] === value);
    return (
        <div class="suggestion">
            <p>
                {p.result.suggestion(suggestion.label, format.step(suggestion.seconds), format.step(best_seconds))}{' '}
                <button
                    type="button"
                    aria-label={p.result.applyIt(suggestion.label)}
                    aria-disabled={done}
                    onClick={() => !done && act.change(set, 'choose')}
                >
                    {done ? p.result.applied : p.result.apply}
                </button>
            </p>
            <p class="note">
                {Object.entries(suggestion.set)
                    .map(([key, value]) => told(page, key, value))
                    .join('; ')}
                . {p.result.undo}
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
            <h4>{first && (first.index === 0 ? p.result.own : p.result.other(told(plans[first.index])))}</h4>
            <table>
                <thead>
                    <tr>
                        <th scope="col">{p.result.plan}</th>
                        <th scope="col" class="r">
                            {p.result.planBefore}
                        </th>
                        <th scope="col" class="r">
                            {p.result.planAfter}
                        </th>
                        <td />
                    </tr>
                </thead>
                <tbody>
                    {answer.ranked.map(({ index, default_seconds, best_seconds, fits }) => (
                        <tr key={index}>
                            <th scope="row">
                                {told(plans[index])}{' '}
                                <small>{[index === 0 && p.result.yours, !fits && p.result.tooLarge].filter(Boolean).join(', ')}</small>
                            </th>
                            <td class="r">{format.step(default_seconds)}</td>
                            <td class="r">{format.step(best_seconds)}</td>
                            <td class="r">
                                {index > 0 && (
                                    <button
                                        type="button"
                                        class="link"
                                        aria-label={p.result.takeIt(told(plans[index]))}
                                        onClick={() => act.change(plans[index] ?? {}, 'choose')}
                                    >
                                        {p.result.take}
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
    stale: boolean;
}

export function Result({ page, act, found, plans, measured, units, stale }: ResultProps) {
    const { answer, course, seeds, stopped } = found;
    const title = findingOf(answer);
    const band = answer.ranked[0] && answer.ranked[0].index > 0 ? p.result.otherBand : p.result.band;
    const differences = useMemo(() => differencesOf(units, measured.names), [answer]);
    const spare = useMemo(() => answer.spare.map((unit) => measured.names[unit] ?? ''), [answer]);
    return (
        <div class={stale ? 'step result-of-placement stale' : 'step result-of-placement'}>
            <h3 class="finding">{title}</h3>
            <Warnings warnings={answer.warnings} />
            <Differing answer={answer} measured={measured} differences={differences} />
            <p class="note">
                {stopped && p.search.stopped}{' '}
                {!answer.nothing_to_gain && band(format.percent(answer.low_gain_share), format.percent(answer.high_gain_share))}{' '}
                {!answer.nothing_to_gain && answer.basis}
            </p>
            {!answer.nothing_to_gain && <Curve course={course} running={false} />}
            <p class="note">
                {p.search.searched(
                    format.rounded(course.moves),
                    format.rounded(course.moves_per_s),
                    format.duration(course.seconds),
                    seeds,
                    format.count(seeds),
                )}
            </p>
            {answer.ranked.length > 0 && <Ranked page={page} act={act} answer={answer} plans={plans} />}
            <Suggestion page={page} act={act} answer={answer} />
            <Pictures answer={answer} measured={measured} differences={differences} />
            <Table title={p.result.positions} label={title} rows={() => positionTable(answer, measured.names, differences)} />
            {spare.length > 0 && <p class="note">{p.result.spare(spare.join(', '))}</p>}
            {answer.files.length > 0 && <Files files={answer.files} />}
            {answer.units === 'gpus' && <p class="note">{p.result.noFiles}</p>}
        </div>
    );
}
