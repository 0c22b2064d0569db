import type { Binds, PacingLink } from '../core/api';
import type { Measured } from '../core/types';
import { format } from '../format/format';
import { useWidth } from '../shared/drawing';
import { listed, say, sentences } from '../words/words';
import { brief, GIGA, gbyte } from './map';
import { classOf, type Grid, type Spot } from './search';
import type { Difference } from './units';

// Who stands where: a box for each node, stages from left to right, and the links that the run uses between them.
const BOX = 26; // px high
const LINE = 16; // px more where nodes differ: what in
const CHARACTER = 7; // px
const HEAD = 22; // the stages' names
const SIDE = 20; // px beside a column: a ring's way back
const RIGHT = 12; // px: the rest of a rate beside the last column
const ACROSS = 62; // px between columns
const LEAST_ACROSS = 30; // px: a rate's room
const DOWN = 24; // px between rows

interface Props {
    title: string;
    grid: Grid;
    names: readonly string[]; // of the unit at each position
    units: readonly number[];
    binds: Binds;
    measured: Measured;
    differences: ReadonlyMap<number, Difference>; // by unit
}

export const linksOf = ({ pipeline, ring }: Binds): PacingLink[] => [...(pipeline?.links ?? []), ...(ring ? [ring.link] : [])];

// One sentence for the pipeline, one for the ring, each with its slowest link.
function toldOf({ pipeline, ring }: Binds, { names }: Measured, alone: boolean): string[] {
    const name = (link: PacingLink) => ({ from: names[link.from] ?? '', to: names[link.to] ?? '', rate: link.gbyte_per_s * GIGA });
    const [slowest] = [...(pipeline?.links ?? [])].sort((a, b) => a.gbyte_per_s - b.gbyte_per_s);
    return [
        pipeline &&
            slowest &&
            say('placement.result.pipeline', { pipeline: pipeline.pipeline + 1, time: pipeline.seconds, ...name(slowest) }),
        ring &&
            (alone
                ? say('placement.result.ring_alone', { time: ring.seconds, ...name(ring.link) })
                : say('placement.result.ring', { stage: ring.stage + 1, time: ring.seconds, ...name(ring.link) })),
    ].filter((text) => text !== null && text !== undefined);
}

function rateBetween({ rates, names }: Measured, a: number, b: number): number {
    const n = names.length;
    return Math.min(rates[a * n + b] ?? Number.NaN, rates[b * n + a] ?? Number.NaN);
}

// The box has room for the numbers alone; the words stand in the key and in the table.
const brieflyOf = ({ speed, memory_gib }: Difference): string =>
    listed([
        speed !== null && format.percent(speed),
        memory_gib !== null && say('placement.result.brief_memory', { gb: format.nominal(memory_gib) }),
    ]);

const SIGN = '◆'; // of a node that differs
export const sign = (text: string): string => `${SIGN} ${text}`;

interface Placed extends Spot {
    x: number; // px of the box's corner
    y: number;
}
interface Way {
    d: string;
    middle: [number, number]; // where a rate stands
}

// A line from box to box: straight to a neighbour, round the side in a column, across otherwise.
function wayBetween(one: Placed, two: Placed, box: { wide: number; high: number; across: number; down: number }): Way {
    const { wide, high, across, down } = box;
    const [left, right] = one.column <= two.column ? [one, two] : [two, one];
    const [top, bottom] = one.row <= two.row ? [one, two] : [two, one];
    if (one.row === two.row && right.column - left.column === 1)
        return { d: `M${left.x + wide} ${left.y + high / 2}H${right.x}`, middle: [left.x + wide + across / 2, left.y + high / 2 - 10] };
    if (one.column === two.column && bottom.row - top.row === 1)
        return { d: `M${top.x + wide / 2} ${top.y + high}V${bottom.y}`, middle: [top.x + wide / 2 + 20, top.y + high + down / 2] };
    if (one.column === two.column)
        return {
            d: `M${top.x} ${top.y + high / 2}h${-SIDE / 2}V${bottom.y + high / 2}h${SIDE / 2}`,
            middle: [top.x - SIDE / 2, (top.y + bottom.y + high) / 2],
        };
    return {
        d: `M${left.x + wide} ${left.y + high / 2}L${right.x} ${right.y + high / 2}`,
        middle: [(left.x + wide + right.x) / 2, (left.y + right.y + high) / 2],
    };
}

export function Picture({ title, grid, names, units, binds, measured, differences }: Props) {
    const { box, width } = useWidth();
    const { spots, columns, rows, stages, hops, rings } = grid;
    const alone = stages.length === 1;
    const nameOf = (position: number): string => brief(names[position] ?? '');
    const differs = new Map(
        spots.flatMap(({ position }) => {
            const difference = differences.get(units[position] ?? -1);
            return difference ? [[position, sign(brieflyOf(difference))] as const] : [];
        }),
    );
    const high = differences.size > 0 ? BOX + LINE : BOX;
    const longest = Math.max(0, ...spots.map(({ position }) => Math.max(nameOf(position).length, differs.get(position)?.length ?? 0)));
    const wide = longest * CHARACTER + 10;
    const least = alone ? 16 : LEAST_ACROSS;
    const across = Math.max(least, Math.min(ACROSS, (width - SIDE - RIGHT - columns * wide) / Math.max(1, columns - 1)));
    const down = alone ? 56 : DOWN;
    const x = ({ column }: Spot): number => SIDE + column * (wide + across);
    const y = ({ row }: Spot): number => HEAD + row * (high + down);
    const at = new Map(spots.map((spot) => [spot.position, spot]));
    const median = measured.median_gbyte_per_s;
    const bindings = linksOf(binds).map(({ positions }) => positions);
    const isBound = (a: number, b: number): boolean => bindings.some(([from, to]) => (from === a && to === b) || (from === b && to === a));
    const path = (a: number, b: number): Way | null => {
        const [one, two] = [at.get(a), at.get(b)];
        return one && two
            ? wayBetween({ ...one, x: x(one), y: y(one) }, { ...two, x: x(two), y: y(two) }, { wide, high, across, down })
            : null;
    };
    const known = [...hops, ...rings];
    const others = bindings.flatMap(([from, to]): [number, number][] =>
        known.some(([a, b]) => (a === from && b === to) || (a === to && b === from)) ? [] : [[from, to]],
    );
    const lines = [...known, ...others].flatMap(([a, b]) => {
        const way = path(a, b);
        const rate = rateBetween(measured, units[a] ?? 0, units[b] ?? 0);
        return way ? [{ key: `${a} ${b}`, ...way, rate, bound: isBound(a, b) }] : [];
    });
    const right = SIDE + columns * wide + (columns - 1) * across + RIGHT;
    const bottom = HEAD + rows * high + (rows - 1) * down + 8;
    const told = toldOf(binds, measured, alone);
    return (
        <div ref={box} class="who">
            <h4>{title}</h4>
            <section class="scroll" aria-label={say('placement.result.picture', { what: title })} tabIndex={right > width ? 0 : undefined}>
                <svg
                    width={Math.max(right, 120)}
                    height={bottom}
                    role="img"
                    aria-label={say('placement.result.picture_told', { what: title, told: sentences(...told) })}
                >
                    {!alone &&
                        stages.map((stage, column) => (
                            <text key={stage} x={SIDE + column * (wide + across) + wide / 2} y={12} text-anchor="middle">
                                {say('placement.result.stage', { stage: stage + 1 })}
                            </text>
                        ))}
                    {lines.map(({ key, d, rate, bound }) => (
                        <path
                            key={key}
                            class={`link ${bound ? 'bound ' : ''}way-${Number.isNaN(rate) ? 4 : classOf(rate, median)}`}
                            d={d}
                        />
                    ))}
                    {spots.map((spot) => (
                        <g key={spot.position}>
                            <rect
                                class={differs.has(spot.position) ? 'unit differs' : 'unit'}
                                x={x(spot)}
                                y={y(spot)}
                                width={wide}
                                height={high}
                                rx="4"
                            />
                            <text
                                class="unit"
                                x={x(spot) + wide / 2}
                                y={y(spot) + (differs.has(spot.position) ? BOX : high) / 2 + 4}
                                text-anchor="middle"
                            >
                                {nameOf(spot.position)}
                            </text>
                            {differs.has(spot.position) && (
                                <text class="unit" x={x(spot) + wide / 2} y={y(spot) + BOX / 2 + 4 + LINE} text-anchor="middle">
                                    {differs.get(spot.position)}
                                </text>
                            )}
                        </g>
                    ))}
                    {lines.map(
                        ({ key, middle, rate, bound }) =>
                            bound && (
                                <text key={key} class="rate" x={middle[0]} y={middle[1] + 4} text-anchor="middle">
                                    {gbyte(rate)}
                                </text>
                            ),
                    )}
                </svg>
            </section>
            <ul class="note">
                {told.map((text) => (
                    <li key={text}>{text}</li>
                ))}
            </ul>
        </div>
    );
}
