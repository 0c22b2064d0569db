import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Measured } from '../core/types';
import { format } from '../format/format';
import { useWidth } from '../shared/drawing';
import { Table } from '../shared/table';
import { say, sentences, tell } from '../words/words';
import { CLASSES, classOf, countSlow } from './search';

// The matrix of a measurement: senders in rows, receivers in columns, coloured by how a link compares to the median.
const MOST_SHAPES = 64; // units drawn as shapes; of more, pixels
const MOST_CELL = 44; // px
const LEAST_NAMED = 12; // px of a row that can have its name beside it
const LEAST_NUMBER = 32; // px of a cell that can hold its number
const NAME = 11; // characters of a name that are shown
const CHARACTER = 7; // px
const MOST_TABLE = 64; // units whose whole matrix can be read as a table

const CLASS_LIST = Array.from({ length: CLASSES }, (_, i) => i as 0 | 1 | 2 | 3 | 4 | 5);

export const GIGA = 1e9;
export const gbyte = (rate: number): string => format.rounded(rate);

// The end tells apart: node-0017, node-0018.
export const brief = (name: string): string => (name.length > NAME ? `…${name.slice(1 - NAME)}` : name);

// Of a matrix with nothing slow in it, the slowest ten are no finding.
const markedOf = ({ slow }: Measured) => slow.filter(({ share_of_median }) => share_of_median < 0.75);

export function titleOf(measured: Measured): string {
    const { rates, median_gbyte_per_s: median, slow, lowest, highest } = measured;
    const counted = countSlow(rates, median);
    const { all } = counted;
    const [first] = slow;
    if (lowest === highest || !first) return say('placement.matrix.uniform', { all, rate: median * GIGA });
    const rate = first.gbyte_per_s * GIGA;
    return counted.slow === 0
        ? say('placement.matrix.even', { all, from: first.from, to: first.to, rate })
        : say('placement.matrix.title', { slow: counted.slow, all, from: first.from, to: first.to, rate });
}

export function Legend({ marked }: { marked: boolean }) {
    return (
        <ul class="legend note">
            {CLASS_LIST.map((index) => (
                <li key={index}>
                    <svg class="key" width="14" height="14" aria-hidden="true">
                        <rect class={`rate-${index}`} width="14" height="14" />
                    </svg>{' '}
                    {say(`placement.matrix.legend.${index}`)}
                </li>
            ))}
            {marked && (
                <li>
                    <svg class="key" width="14" height="14" aria-hidden="true">
                        <rect class="marked" x="1.5" y="1.5" width="11" height="11" />
                    </svg>{' '}
                    {say('placement.matrix.marked')}
                </li>
            )}
        </ul>
    );
}

interface CellsProps {
    measured: Measured;
    cell: number; // px
    x: number;
    y: number;
}

// One path for each class: four thousand rectangles would be as many elements.
function Shapes({ measured: { names, rates, median_gbyte_per_s: median }, cell, x, y }: CellsProps) {
    const paths = useMemo(() => {
        const gap = cell >= 8 ? 1 : 0;
        const list = CLASS_LIST.map(() => '');
        names.forEach((_, row) => {
            names.forEach((_, column) => {
                const rate = rates[row * names.length + column] ?? Number.NaN;
                if (Number.isNaN(rate)) return;
                const side = cell - gap;
                list[classOf(rate, median)] += `M${x + column * cell} ${y + row * cell}h${side}v${side}h${-side}z`;
            });
        });
        return list;
    }, [names, rates, cell, x, y]);
    return (
        <>
            {paths.map((path, index) => (
                <path key={index} class={`rate-${index}`} d={path} />
            ))}
        </>
    );
}

// One pixel of the image per link; the browser scales it.
function Pixels({ measured, margin, side }: { measured: Measured; margin: number; side: number }) {
    const canvas = useRef<HTMLCanvasElement>(null);
    const { names, rates, median_gbyte_per_s: median } = measured;
    useLayoutEffect(() => {
        const draw = () => {
            const pen = canvas.current?.getContext('2d', { willReadFrequently: true });
            const probes = canvas.current?.parentElement?.querySelectorAll('.probe');
            if (!pen || !probes) return;
            pen.canvas.width = pen.canvas.height = names.length;
            // Each class' colour is the style sheet's, which knows light and dark: painted once, read back as bytes.
            const colours = Array.from(probes, (probe) => {
                pen.fillStyle = getComputedStyle(probe).fill;
                pen.fillRect(0, 0, 1, 1);
                return pen.getImageData(0, 0, 1, 1).data;
            });
            const image = pen.createImageData(names.length, names.length);
            const bytes = new Uint32Array(image.data.buffer);
            const words = colours.map((colour) => new Uint32Array(colour.slice(0, 4).buffer)[0] ?? 0);
            for (let i = 0; i < rates.length; ++i) {
                const rate = rates[i] ?? Number.NaN;
                bytes[i] = Number.isNaN(rate) ? 0 : (words[classOf(rate, median)] ?? 0);
            }
            pen.putImageData(image, 0, 0);
        };
        draw();
        const scheme = matchMedia('(prefers-color-scheme: dark)');
        const watcher = new MutationObserver(draw);
        watcher.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
        scheme.addEventListener('change', draw);
        return () => {
            watcher.disconnect();
            scheme.removeEventListener('change', draw);
        };
    }, [measured]);
    return (
        <>
            <canvas ref={canvas} style={{ left: `${margin}px`, top: `${margin}px`, width: `${side}px`, height: `${side}px` }} />
            <svg class="probes" width="0" height="0" aria-hidden="true">
                {CLASS_LIST.map((index) => (
                    <rect key={index} class={`probe rate-${index}`} />
                ))}
            </svg>
        </>
    );
}

function Names({ names, cell, x, y }: { names: string[]; cell: number; x: number; y: number }) {
    const middle = (i: number): number => (i + 0.5) * cell;
    return (
        <>
            {names.map((name, i) => (
                <g key={name}>
                    <text x={x - 6} y={y + middle(i) + 4} text-anchor="end">
                        {brief(name)}
                    </text>
                    <text transform={`translate(${x + middle(i) + 4} ${y - 6}) rotate(-90)`}>{brief(name)}</text>
                </g>
            ))}
        </>
    );
}

function Numbers({ measured: { names, rates }, cell, x, y }: CellsProps) {
    return (
        <>
            {Array.from(rates, (rate, i) => {
                if (Number.isNaN(rate)) return null;
                const [row, column] = [Math.floor(i / names.length), i % names.length];
                return (
                    <text key={i} class="number" x={x + (column + 0.5) * cell} y={y + (row + 0.5) * cell + 4} text-anchor="middle">
                        {gbyte(rate)}
                    </text>
                );
            })}
        </>
    );
}

interface At {
    row: number;
    column: number;
}

const STEPS: Record<string, readonly [number, number]> = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

function readoutOf({ names, rates, median_gbyte_per_s: median }: Measured, { row, column }: At): string {
    const rate = rates[row * names.length + column] ?? Number.NaN;
    const [from = '', to = ''] = [names[row], names[column]];
    if (Number.isNaN(rate)) return say('placement.matrix.itself', { name: from });
    return say('placement.matrix.readout', { from, to, rate: rate * GIGA, share: rate / median });
}

function Drawing({ measured }: { measured: Measured }) {
    const { box, width } = useWidth();
    const [chosen, choose] = useState<At | null>(null);
    const [hovered, hover] = useState<At | null>(null);
    const { names } = measured;
    const slow = markedOf(measured);
    const count = names.length;
    const longest = Math.min(NAME, Math.max(...names.map((name) => name.length)));
    const room = longest * CHARACTER + 10;
    const named = Math.min(MOST_CELL, (width - room) / count) >= LEAST_NAMED;
    const margin = named ? room : 20;
    const fitting = Math.min(MOST_CELL, (Math.min(width, 640) - margin) / count);
    const cell = fitting >= 4 ? Math.floor(fitting) : fitting;
    const side = cell * count;
    const index = useMemo(() => new Map(names.map((name, i) => [name, i])), [names]);
    const shown = hovered ?? chosen;
    const at = shown && shown.row < count && shown.column < count ? shown : null;
    const under = (event: PointerEvent): At | null => {
        const shape = (event.currentTarget as Element).getBoundingClientRect();
        const [column, row] = [event.clientX - shape.left - margin, event.clientY - shape.top - margin].map((px) => Math.floor(px / cell));
        return row !== undefined && column !== undefined && row >= 0 && column >= 0 && row < count && column < count
            ? { row, column }
            : null;
    };
    const onKeyDown = (event: KeyboardEvent) => {
        const step = STEPS[event.key];
        if (!step) return;
        event.preventDefault();
        const from = at ?? { row: 0, column: 0 };
        const bounded = (value: number): number => Math.max(0, Math.min(count - 1, value));
        choose({ row: bounded(from.row + step[0]), column: bounded(from.column + step[1]) });
        hover(null);
    };
    const text = at ? readoutOf(measured, at) : say('placement.matrix.hint');
    return (
        <div ref={box} class="links-map">
            <div
                class="picture"
                role="slider"
                tabIndex={0}
                aria-label={say('placement.matrix.slider')}
                aria-valuemin={1}
                aria-valuemax={count * count}
                aria-valuenow={at ? at.row * count + at.column + 1 : 1}
                aria-valuetext={text}
                onKeyDown={onKeyDown}
                onPointerMove={(event) => hover(under(event))}
                onPointerLeave={() => hover(null)}
                onPointerDown={(event) => choose(under(event))}
            >
                {count > MOST_SHAPES && <Pixels measured={measured} margin={margin} side={side} />}
                <svg class="over" aria-hidden="true" width={margin + side + 2} height={margin + side + 2}>
                    {count <= MOST_SHAPES && <Shapes measured={measured} cell={cell} x={margin} y={margin} />}
                    {named ? (
                        <Names names={names} cell={cell} x={margin} y={margin} />
                    ) : (
                        <>
                            <text x={margin} y={14}>
                                {say('placement.matrix.columns')}
                            </text>
                            <text transform={`translate(14 ${margin + side}) rotate(-90)`}>{say('placement.matrix.rows')}</text>
                        </>
                    )}
                    {cell >= LEAST_NUMBER && <Numbers measured={measured} cell={cell} x={margin} y={margin} />}
                    {slow.map(({ from, to }) => (
                        <rect
                            key={`${from} ${to}`}
                            class="marked"
                            x={margin + (index.get(to) ?? 0) * cell - 1}
                            y={margin + (index.get(from) ?? 0) * cell - 1}
                            width={Math.max(4, cell + 1)}
                            height={Math.max(4, cell + 1)}
                        />
                    ))}
                    {at && <rect class="now" x={margin + at.column * cell} y={margin + at.row * cell} width={cell} height={cell} />}
                </svg>
            </div>
            <p class="note readout">{text}</p>
        </div>
    );
}

const slowTable = ({ slow }: Measured): string[][] => [
    [say('placement.matrix.from'), say('placement.matrix.to'), say('placement.matrix.rate'), say('placement.matrix.share')],
    ...slow.map(({ from, to, gbyte_per_s, share_of_median }) => [from, to, gbyte(gbyte_per_s), format.percent(share_of_median)]),
];

const wholeTable = ({ names, rates }: Measured): string[][] => [
    [say('placement.matrix.from_to'), ...names],
    ...names.map((name, row) => [
        name,
        ...names.map((_, column) => {
            const rate = rates[row * names.length + column] ?? Number.NaN;
            return Number.isNaN(rate) ? '–' : gbyte(rate);
        }),
    ]),
];

export function Matrix({ measured }: { measured: Measured }) {
    const { names, slow, median_gbyte_per_s: median, lowest, highest, symmetric, asymmetry, missing_count, notes } = measured;
    const title = titleOf(measured);
    return (
        <div class="matrix">
            <h3 class="finding">{title}</h3>
            <p class="note">
                {sentences(
                    say('placement.matrix.facts', { median: median * GIGA, low: lowest * GIGA, high: highest * GIGA }),
                    symmetric ? say('placement.matrix.symmetric') : say('placement.matrix.asymmetric', { share: asymmetry }),
                    missing_count > 0 && say('placement.matrix.missing', { count: missing_count }),
                    ...notes.map(tell),
                )}
            </p>
            <Drawing measured={measured} />
            <Legend marked={markedOf(measured).length > 0} />
            {slow.length > 0 && <Table title={say('placement.matrix.slowest')} label={title} rows={() => slowTable(measured)} />}
            {names.length <= MOST_TABLE && <Table title={say('placement.matrix.whole')} label={title} rows={() => wholeTable(measured)} />}
        </div>
    );
}
