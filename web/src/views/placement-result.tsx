import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Binds, Measured, Placed, PlacedAt, PlaceFile } from '../api';
import { format } from '../format';
import { p } from '../i18n/placement';
import { type Found, gridOf } from '../placement';
import { CopyButton } from './copy-button';
import { Table } from './more-table';
import { Curve } from './placement-curve';
import { linksOf, Picture } from './placement-picture';

// What was found: how much faster, who stands where, and the files that bring it about.
const MOST_DRAWN = 64; // nodes

function findingOf(answer: Placed): string {
    const { objective, nothing_to_gain, finding, gain_share, best_seconds, default_seconds } = answer;
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

export function Result({ found, measured, stale }: { found: Found; measured: Measured; stale: boolean }) {
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
            <Pictures answer={answer} measured={measured} />
            <Table title={p.result.positions} label={title} rows={() => positionTable(answer.positions, measured.names)} />
            {spare.length > 0 && <p class="note">{p.result.spare(spare.join(', '))}</p>}
            <Files files={answer.files} />
        </div>
    );
}
