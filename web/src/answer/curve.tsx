import { useState } from 'preact/hooks';
import type { Curve, Estimate, PassKind } from '../core/api';
import { format } from '../format/format';
import { marks, useWidth } from '../shared/drawing';
import { Table } from '../shared/table';
import { say } from '../words/words';

// Memory of the stage shown over the passes of one step, drawn in pixels of the room there is.
const GIB = 2 ** 30;
const HEIGHT = 220; // of the plot
const LEFT = 34;
const TOP = 22; // the card's label stands here
const STRIP = 18; // the passes, below the plot
const FOOT = 40; // the horizontal scale
const LETTER = 14; // px: what a pass's letter needs
const KINDS: readonly PassKind[] = ['F', 'B', 'W'];

// What stands in a sentence about one pass.
const passOf = (curve: Curve, i: number) => ({
    kind: curve.kind[i] ?? 'F',
    batch: (curve.micro_batch[i] ?? 0) + 1,
    chunks: Math.max(...curve.chunk) > 0,
    chunk: (curve.chunk[i] ?? 0) + 1,
    used: curve.bytes[i] ?? 0,
});
export const readoutOf = (curve: Curve, i: number): string => say('curve.readout', passOf(curve, i));

export const peakOf = ({ bytes }: Curve): number => bytes.indexOf(Math.max(...bytes));

function finding(curve: Curve): string {
    const peak = peakOf(curve);
    const used = curve.bytes[peak] ?? 0;
    return curve.bytes.every((bytes) => bytes === used) ? say('curve.flat', { used }) : say('curve.peak', passOf(curve, peak));
}

// The pass that runs at a time, or the last one before it.
export function passAt({ start }: Curve, time: number): number {
    let [low, high] = [0, start.length - 1];
    while (low < high) {
        const middle = (low + high + 1) >> 1;
        if ((start[middle] ?? 0) <= time) low = middle;
        else high = middle - 1;
    }
    return low;
}

// A forward pass fills the stage bit by bit, a backward pass starts at its fullest and empties it; what is there afterwards stays.
function outline({ start, end, bytes, after, kind }: Curve, x: (time: number) => number, y: (bytes: number) => number): string {
    const at = (time: number, held: number): string => `${x(time).toFixed(1)} ${y(held).toFixed(1)}`;
    return bytes
        .map((most, i) => {
            const [from, to] = [start[i] ?? 0, end[i] ?? 0];
            const [before, left] = [after[i - 1] ?? Math.min(...after), after[i] ?? most];
            const first = `${i === 0 ? 'M' : 'L'}${at(from, before)}`;
            return kind[i] === 'F' ? `${first}L${at(to, most)}L${at(to, left)}` : `${first}L${at(from, most)}L${at(to, left)}`;
        })
        .join('');
}

function asTable(curve: Curve): string[][] {
    return [
        [
            say('table.pass'),
            say('table.micro_batch'),
            say('table.chunk'),
            say('table.start'),
            say('table.end'),
            say('table.in_gib', { name: say('table.total') }),
        ],
        ...curve.bytes.map((bytes, i) => [
            say(`pass.${curve.kind[i] ?? 'F'}`),
            format.count((curve.micro_batch[i] ?? 0) + 1),
            format.count((curve.chunk[i] ?? 0) + 1),
            format.fixed(curve.start[i] ?? 0, 1),
            format.fixed(curve.end[i] ?? 0, 1),
            format.gib(bytes),
        ]),
    ];
}

function Drawing({ answer, curve }: { answer: Estimate; curve: Curve }) {
    const { box, width } = useWidth();
    const [at, setAt] = useState<number | null>(null);
    const last = curve.bytes.length - 1;
    const peak = peakOf(curve);
    const now = at === null ? peak : Math.min(at, last);
    const held = answer.stages[answer.stage]?.static_bytes ?? 0;
    const top = Math.max(answer.card_bytes, (curve.bytes[peak] ?? 0) * 1.04);
    const time = curve.end[last] ?? 1;
    const room = Math.max(120, width - LEFT - 2);
    const x = (passes: number): number => LEFT + (passes / time) * room;
    const y = (bytes: number): number => TOP + HEIGHT * (1 - bytes / top);
    const base = TOP + HEIGHT;
    const line = outline(curve, x, y);
    const point = (event: PointerEvent) => {
        const { left } = (event.currentTarget as Element).getBoundingClientRect();
        setAt(passAt(curve, ((event.clientX - left - LEFT) / room) * time));
    };
    const onKeyDown = (event: KeyboardEvent) => {
        const steps: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1, ArrowUp: 1, ArrowDown: -1, PageUp: 10, PageDown: -10 };
        const ends: Record<string, number> = { Home: 0, End: last };
        const step = steps[event.key];
        const to = ends[event.key];
        if (step === undefined && to === undefined) return;
        event.preventDefault();
        setAt((before) => to ?? Math.max(0, Math.min(last, (before ?? peak) + (step ?? 0))));
    };
    const readout = readoutOf(curve, now);
    const strip = (kind: PassKind): string =>
        curve.kind
            .map((one, i) => {
                const from = x(curve.start[i] ?? 0);
                const to = x(curve.end[i] ?? 0);
                return one === kind
                    ? `M${from.toFixed(1)} ${base}H${Math.max(from + 0.5, to - 1).toFixed(1)}V${base + STRIP}H${from.toFixed(1)}Z`
                    : '';
            })
            .join('');
    const middle = (i: number): number => (x(curve.start[i] ?? 0) + x(curve.end[i] ?? 0)) / 2;
    const lettered = curve.kind.flatMap((_, i) => (x(curve.end[i] ?? 0) - x(curve.start[i] ?? 0) >= LETTER ? [i] : []));
    return (
        <div ref={box}>
            <p class="readout">{at === null ? say('curve.hint') : readout}</p>
            {/* biome-ignore lint/a11y/useFocusableInteractive: it has a tabindex, written as SVG wants it */}
            <svg
                class="curve"
                width={width}
                height={base + STRIP + FOOT}
                role="slider"
                tabindex={0}
                aria-label={say('curve.slider')}
                aria-valuemin={1}
                aria-valuemax={last + 1}
                aria-valuenow={now + 1}
                aria-valuetext={readout}
                onPointerMove={point}
                onPointerDown={point}
                onPointerLeave={() => setAt(null)}
                onKeyDown={onKeyDown}
            >
                {marks(top / GIB, 4).map((gib) => (
                    <g key={gib} class="rule">
                        <line x1={LEFT} x2={LEFT + room} y1={y(gib * GIB)} y2={y(gib * GIB)} />
                        <text x={LEFT - 6} y={y(gib * GIB) + 4} text-anchor="end">
                            {format.nominal(gib)}
                        </text>
                    </g>
                ))}
                <path class="area" d={`${line}V${base}H${x(curve.start[0] ?? 0).toFixed(1)}Z`} />
                <rect class="held" x={LEFT} y={y(held)} width={room} height={base - y(held)} />
                <path class="top" d={line} />
                <text class="held" x={LEFT + 8} y={y(held) + 16}>
                    {say('curve.held')}
                </text>
                <line class="cardline" x1={LEFT} x2={LEFT + room} y1={y(answer.card_bytes)} y2={y(answer.card_bytes)} />
                <text class="cardsize" x={LEFT + room} y={y(answer.card_bytes) - 6} text-anchor="end">
                    {say('curve.card', { size: format.nominal(answer.gpu.memory_gib) })}
                </text>
                <text x={0} y={12}>
                    {say('curve.y')}
                </text>
                {KINDS.map((kind) => (
                    <path key={kind} class={`pass ${kind}`} d={strip(kind)} />
                ))}
                {lettered.map((i) => (
                    <text key={i} class={`letter ${curve.kind[i]}`} x={middle(i)} y={base + STRIP - 5} text-anchor="middle">
                        {curve.kind[i]}
                    </text>
                ))}
                <line class="now" x1={middle(now)} x2={middle(now)} y1={y(curve.bytes[now] ?? 0)} y2={base} />
                <circle class="now" cx={middle(now)} cy={y(curve.bytes[now] ?? 0)} r="4" />
                {marks(time, room / 90).map((passes) => (
                    <text
                        key={passes}
                        x={x(passes)}
                        y={base + STRIP + 16}
                        text-anchor={passes === 0 ? 'start' : passes > time * 0.97 ? 'end' : 'middle'}
                    >
                        {format.number(passes)}
                    </text>
                ))}
                <text x={LEFT + room} y={base + STRIP + 34} text-anchor="end">
                    {say('curve.x')}
                </text>
            </svg>
            <ul class="legend" aria-hidden="true">
                {KINDS.filter((kind) => curve.kind.includes(kind)).map((kind) => (
                    <li key={kind}>
                        <svg class="key" aria-hidden="true" width="18" height="18">
                            <rect class={`pass ${kind}`} width="18" height="18" />
                            <text class={`letter ${kind}`} x="9" y="13" text-anchor="middle">
                                {kind}
                            </text>
                        </svg>{' '}
                        {say(`pass.${kind}`)}
                    </li>
                ))}
            </ul>
        </div>
    );
}

export function StepCurve({ answer }: { answer: Estimate }) {
    const { curve } = answer;
    if (!curve || curve.bytes.length === 0) return <p class="note">{say('curve.none')}</p>;
    return (
        <div class="step">
            <p class="finding">{finding(curve)}</p>
            <Drawing answer={answer} curve={curve} />
            {curve.cut && <p class="note">{say('curve.cut', { count: curve.micro_batches })}</p>}
            <Table title={say('table.title')} label={say('part.curve')} rows={() => asTable(curve)} />
        </div>
    );
}
