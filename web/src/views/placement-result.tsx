import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Binds, Measured, Placed, PlacedAt, PlaceFile, RankedPlan } from '../api';
import { format } from '../format';
import { p } from '../i18n/placement';
import { type Found, gridOf } from '../placement';
import type { settingsOf } from '../ranking';
import type { Actions, Page } from '../store';
import { wholePlan } from './best';
import { CopyButton } from './copy-button';
import { Table } from './more-table';
import { Curve } from './placement-curve';
import { linksOf, Picture } from './placement-picture';

// What was found: how much faster, who stands where, and the files that bring it about.
export type Plan = ReturnType<typeof settingsOf>;

const MOST_DRAWN = 64; // nodes

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
                    <summary>{file.name}</summary>
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

const positionTable = (positions: readonly PlacedAt[], names: readonly string[]): string[][] => [
    [p.result.position, p.result.stageHead, p.result.rankHead, p.result.defaultNode, p.result.node],
    ...positions.map(({ position, stages, data_ranks, name }) => [
        format.count(position + 1),
        span(stages),
        span(data_ranks),
        names[position] ?? '',
        name,
    ]),
];

// Far more nodes than can be drawn: those whose links set the pace.
function drawn(positions: readonly PlacedAt[], binds: Binds): PlacedAt[] {
    if (positions.length <= MOST_DRAWN) return [...positions];
    const ends = new Set(linksOf(binds).flatMap((link) => link.positions));
    return positions.filter(({ position }) => ends.has(position));
}

function Pictures({ answer, measured }: { answer: Placed; measured: Measured }) {
    const { positions, placement } = answer;
    const sides = [
        { title: p.result.before, units: positions.map(({ position }) => position), binds: answer.critical.default },
        { title: p.result.after, units: placement, binds: answer.critical.best },
    ];
    return (
        <>
            <div class="sides">
                {sides.map(({ title, units, binds }) => (
                    <Picture
                        key={title}
                        title={title}
                        grid={gridOf(drawn(positions, binds))}
                        units={units}
                        names={units.map((unit) => measured.names[unit] ?? '')}
                        binds={binds}
                        measured={measured}
                    />
                ))}
            </div>
            <p class="note">
                {p.result.key} {positions.length > MOST_DRAWN && p.result.onlyCritical(format.count(positions.length))}
            </p>
        </>
    );
}

// What the core says beside the placement: units in which the plan does not fit, and layers spread another way.
function Advice({ answer: { warnings, suggestion }, act }: { answer: Placed; act: Actions }) {
    if (warnings.length === 0 && !suggestion) return null;
    return (
        <ul class="advice">
            {warnings.map(({ message, suggestion }) => (
                <li key={message}>
                    {message} {suggestion}
                </li>
            ))}
            {suggestion && (
                <li>
                    {p.result.suggestion(suggestion.label, format.step(suggestion.seconds))}{' '}
                    <button type="button" class="link" onClick={() => act.change(suggestion.set, 'choose')}>
                        {p.result.apply}
                    </button>
                </li>
            )}
        </ul>
    );
}

// The plans of the list, each at its best placement.
function Ranked({ page, act, answer, plans }: { page: Page; act: Actions; answer: Placed; plans: readonly Plan[] }) {
    const [first] = answer.ranked;
    const told = (plan: Plan | undefined): string => (plan ? wholePlan(page, plan as unknown as RankedPlan) : '');
    return (
        <div class="joint">
            <h4>{first && (first.index === 0 ? p.result.own : p.result.other(told(plans[first.index])))}</h4>
            <table>
                <thead>
                    <tr>
                        <th scope="col">{p.result.plan}</th>
                        <th scope="col" class="r">
                            {p.result.defaultNode}
                        </th>
                        <th scope="col" class="r">
                            {p.result.node}
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
    stale: boolean;
}

export function Result({ page, act, found, plans, measured, stale }: ResultProps) {
    const { answer, course, seeds, stopped } = found;
    const title = findingOf(answer);
    const spare = useMemo(() => answer.spare.map((unit) => measured.names[unit] ?? ''), [answer]);
    return (
        <div class={stale ? 'step result-of-placement stale' : 'step result-of-placement'}>
            <h3 class="finding">{title}</h3>
            <p class="note">
                {stopped && p.search.stopped}{' '}
                {!answer.nothing_to_gain && p.result.band(format.percent(answer.low_gain_share), format.percent(answer.high_gain_share))}{' '}
                {answer.basis}{' '}
                {p.search.searched(
                    format.rounded(course.moves),
                    format.rounded(course.moves_per_s),
                    format.duration(course.seconds),
                    seeds,
                    format.count(seeds),
                )}
            </p>
            {!answer.nothing_to_gain && <Curve course={course} running={false} />}
            {answer.ranked.length > 0 && <Ranked page={page} act={act} answer={answer} plans={plans} />}
            <Advice answer={answer} act={act} />
            <Pictures answer={answer} measured={measured} />
            <Table title={p.result.positions} label={title} rows={() => positionTable(answer.positions, measured.names)} />
            {spare.length > 0 && <p class="note">{p.result.spare(spare.join(', '))}</p>}
            {answer.files.length > 0 ? <Files files={answer.files} /> : <p class="note">{p.result.noFiles}</p>}
        </div>
    );
}
