import './timeline.css';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { PassKind, Refusal, Timeline, TimelineAnswer, TimelineStage } from '../core/api';
import { type Core, latestOnly } from '../core/client';
import { format } from '../format/format';
import { aboutOf, nameOf } from '../shared/names';
import { Table } from '../shared/table';
import { say, sentences, tell } from '../words/words';
import { clockOf, markText } from './clock';
import { fillOf, paint, rowsFor } from './paint';
import { marksBetween, middleOf, momentAt, moved, type Place, spanOf, stageOf, unitOf, waitAfter } from './passes';
import { Buttons, STEP, useWheel, useZoom, type Zoom } from './zoom';

// What every stage does over one step, drawn in pixels of the room there is. The window scrolls over a drawing that is as much wider as
// it is zoomed; only what is in view is painted.
const TOP = 20; // the heads of both columns of numbers stand here
const FOOT = 24; // the scale
const LABEL = 13; // px from one number of a stage to the next
const DRAG = 5; // px: less is a click
const KINDS: readonly PassKind[] = ['F', 'B', 'W'];
const SCHEDULE = 'choice.schedule'; // where its words stand
const MOST_CHUNKS = 4; // each in the legend; of more, the first and the last

type Job = TimelineAnswer['job'];

// Asks only while the part is open, for the newest job; an older answer stays until the next one comes.
function useTimeline(job: Job, ask: Core['timeline']) {
    const key = useMemo(() => JSON.stringify(job), [job]);
    const [known, learn] = useState<{ key: string; answer: TimelineAnswer | Refusal | null } | null>(null);
    const asking = useRef<((question: string) => void) | undefined>(undefined);
    useEffect(() => {
        let latest = key;
        asking.current ??= latestOnly(
            (question: string) => {
                latest = question;
                return ask(JSON.parse(question));
            },
            (answer, question) => learn({ key: question, answer }),
            () => learn({ key: latest, answer: null }),
        );
        asking.current(key);
    }, [key]);
    return { answer: known?.answer, known: known !== null, stale: known !== null && known.key !== key };
}

type Brush = [from: number, to: number]; // px of the view

function readoutOf(line: Timeline, { stage, pass, waits }: Place): string {
    const all = line.stages[stage];
    if (!all) return '';
    const [behind, next] = waitAfter(line, all, pass);
    const [from, to] = waits ? [behind, next] : [all.start[pass] ?? 0, all.end[pass] ?? 0];
    const clock = clockOf(line.drawn_seconds, to - from);
    const told = { stage: stage + 1, from: clock.text(from), to: clock.text(to), unit: clock.unit };
    if (waits) return say('timeline.waiting', told);
    return say('timeline.readout', {
        ...told,
        kind: all.kind[pass] ?? 'F',
        ...unitOf(line, all, pass),
        chunks: line.chunks > 1,
        chunk: (all.chunk[pass] ?? 0) + 1,
        waits: next - behind >= 1e-6 * line.drawn_seconds, // rounding of the core's sums is no wait
        time: next - behind,
    });
}

function finding(line: Timeline): string {
    const count = line.stages.length;
    if (count === 1) return say('timeline.alone');
    const share = line.bubble_share;
    if (line.equally_slow === count) return say('timeline.even', { share });
    return line.equally_slow > 1
        ? say('timeline.shared', { share, count: line.equally_slow })
        : say('timeline.finding', { share, stage: line.slowest_stage + 1 });
}

function stageTable(line: Timeline): string[][] {
    return [
        [say('table.stage'), say('timeline.busy'), say('timeline.idle'), say('timeline.share')],
        ...line.stages.map((stage, i) => [
            format.count(i + 1),
            format.duration(stage.busy_seconds),
            format.duration(stage.idle_seconds),
            format.percent(stage.idle_share),
        ]),
    ];
}

function passTable(line: Timeline, index: number): string[][] {
    const stage = line.stages[index];
    if (!stage) return [];
    const shortest = Math.min(...stage.start.map((from, i) => (stage.end[i] ?? 0) - from).filter((length) => length > 0));
    const clock = clockOf(line.drawn_seconds, shortest);
    return [
        [
            say('table.pass'),
            say('table.micro_batch'),
            say('table.chunk'),
            say('table.in_unit', { name: say('table.start'), unit: clock.unit }),
            say('table.in_unit', { name: say('table.end'), unit: clock.unit }),
        ],
        ...stage.start.map((from, i) => [
            say(`pass.${stage.kind[i] ?? 'F'}`),
            say('timeline.unit', unitOf(line, stage, i)),
            format.count((stage.chunk[i] ?? 0) + 1),
            clock.text(from),
            clock.text(stage.end[i] ?? 0),
        ]),
    ];
}

function Legend({ line }: { line: Timeline }) {
    const kinds = KINDS.filter((kind) => line.stages[0]?.kind.includes(kind));
    const all = Array.from({ length: line.chunks }, (_, i) => i);
    const chunks = line.chunks === 1 ? [] : line.chunks <= MOST_CHUNKS ? all : [0, line.chunks - 1];
    return (
        <ul class="legend" aria-hidden="true">
            {kinds.map((kind) => (
                <li key={kind}>
                    <svg class="key" aria-hidden="true" width="18" height="18">
                        <rect class={kind} width="18" height="18" fill={fillOf(kind, 0, line.chunks)} />
                        <text class={kind} x="9" y="13" text-anchor="middle">
                            {kind}
                        </text>
                    </svg>{' '}
                    {say(`pass.${kind}`)}
                </li>
            ))}
            {chunks.map((chunk) => (
                <li key={chunk}>
                    <svg class="key" aria-hidden="true" width="27" height="18">
                        {kinds.map((kind, i) => (
                            <rect key={kind} x={i * 9} width="9" height="18" fill={fillOf(kind, chunk, line.chunks)} />
                        ))}
                    </svg>{' '}
                    {say('timeline.legend_chunk', { chunk: chunk + 1 })}
                </li>
            ))}
            {line.stages.length > 1 && (
                <li>
                    <svg class="key" aria-hidden="true" width="18" height="18">
                        <path class="wait" d="M-2 2L2 -2M-2 8L8 -2M-2 14L14 -2M-2 20L20 -2M4 20L20 4M10 20L20 10M16 20L20 16" />
                    </svg>{' '}
                    {say('timeline.legend_wait')}
                </li>
            )}
        </ul>
    );
}

interface NumbersProps {
    line: Timeline;
    head: string;
    right: number; // px where they end
    text(stage: TimelineStage, index: number): string;
}

// A number beside every stage, or beside every few where they lie close together.
function Numbers({ line, head, right, text }: NumbersProps) {
    const { height, pitch } = rowsFor(line.stages.length);
    const every = Math.ceil(LABEL / pitch);
    const slow = (i: number): boolean => i === line.slowest_stage && line.equally_slow === 1;
    return (
        <svg class="names" aria-hidden="true" height={TOP + pitch * line.stages.length}>
            <text x="44" y="12" text-anchor="end">
                {head}
            </text>
            {line.stages.map(
                (stage, i) =>
                    i % every === 0 && (
                        <text key={i} class={slow(i) ? 'slow' : undefined} x={right} y={TOP + i * pitch + height / 2 + 4} text-anchor="end">
                            {text(stage, i)}
                        </text>
                    ),
            )}
        </svg>
    );
}

interface OverProps {
    line: Timeline;
    zoom: Zoom;
    place: Place | null;
    brush: Brush | null;
}

// What lies over the canvas: the chosen pass, the stretch being drawn, the scale.
function Over({ line, zoom: { width, timeAt, pxAt }, place, brush }: OverProps) {
    const { height, pitch } = rowsFor(line.stages.length);
    const base = TOP + pitch * line.stages.length;
    const marked = place && spanOf(line, place).map(pxAt);
    const [from, to, wanted] = [timeAt(0), timeAt(width), width / 110];
    const { unit, size } = clockOf(line.drawn_seconds, (to - from) / wanted);
    const { step, marks } = marksBetween(from / size, to / size, wanted); // round in that unit
    return (
        <svg class="over" aria-hidden="true" width={width} height={base + FOOT}>
            {place && marked && (
                <rect
                    class="now"
                    x={(marked[0] ?? 0) + 0.5}
                    y={TOP + place.stage * pitch - 0.5}
                    width={Math.max(2, (marked[1] ?? 0) - (marked[0] ?? 0) - 2)}
                    height={height + 1}
                />
            )}
            {brush && <rect class="brush" x={Math.min(...brush)} y={TOP} width={Math.abs(brush[1] - brush[0])} height={base - TOP} />}
            {marks.map((mark) => {
                const x = pxAt(mark * size);
                return (
                    <g key={mark}>
                        <line x1={x} x2={x} y1={base} y2={base + 5} />
                        <text x={x} y={base + 18} text-anchor={x < 24 ? 'start' : x > width - 30 ? 'end' : 'middle'}>
                            {say('timeline.tick', { time: markText(mark, step), unit })}
                        </text>
                    </g>
                );
            })}
        </svg>
    );
}

interface DrawingProps {
    line: Timeline;
    chosen: Place | null; // by a key or a press; it stays while the pointer passes over others
    choose(place: Place): void;
}

function Drawing({ line, chosen, choose }: DrawingProps) {
    const zoom = useZoom(line);
    const { box, width, inner, scale, timeAt, pxAt, zoomTo } = zoom;
    const canvas = useRef<HTMLCanvasElement>(null);
    const [hovered, hover] = useState<Place | null>(null);
    const [brush, setBrush] = useState<Brush | null>(null);
    const rows = rowsFor(line.stages.length);
    const tall = rows.pitch * line.stages.length;
    const [from, to] = [timeAt(0), timeAt(width)];
    useWheel(zoom);
    useLayoutEffect(() => {
        if (canvas.current) paint(canvas.current, line, { from, to, width }, rows);
    }, [line, from, to, width]);

    const at = hovered ?? chosen;
    const place = at && at.pass < (line.stages[at.stage]?.start.length ?? -1) ? at : null; // another plan may have fewer
    const shown = place ?? { stage: line.slowest_stage, pass: 0, waits: false };
    // Zooming by keys and buttons keeps the chosen pass where it is.
    const anchor = (): number => {
        const px = place ? pxAt(middleOf(line, place)) : -1;
        return px >= 0 && px <= width ? px : width / 2;
    };
    const under = (event: PointerEvent): { px: number; place: Place } => {
        const shape = (event.currentTarget as Element).getBoundingClientRect();
        const px = Math.max(0, Math.min(width, event.clientX - shape.left));
        const stage = Math.max(0, Math.min(line.stages.length - 1, Math.floor((event.clientY - shape.top - TOP) / rows.pitch)));
        return { px, place: { stage, ...momentAt(stageOf(line, stage), timeAt(px)) } };
    };
    const onPointerDown = (event: PointerEvent) => {
        const { px, place } = under(event);
        choose(place);
        if (event.pointerType === 'touch' || event.button !== 0) return; // a finger scrolls
        (event.currentTarget as Element).setPointerCapture(event.pointerId);
        setBrush([px, px]);
    };
    const onPointerMove = (event: PointerEvent) => {
        const { px, place } = under(event);
        if (brush) setBrush([brush[0], px]);
        else hover(place);
    };
    const onPointerUp = () => {
        if (!brush) return;
        setBrush(null);
        if (Math.abs(brush[1] - brush[0]) >= DRAG) zoom.show(timeAt(Math.min(...brush)), timeAt(Math.max(...brush)));
    };
    const onKeyDown = (event: KeyboardEvent) => {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        const zooms: Record<string, number> = { '+': scale * STEP, '=': scale * STEP, '-': scale / STEP, '0': 1 };
        const next = zooms[event.key];
        const there = moved(line, shown, event.key);
        if (next === undefined && !there) return;
        event.preventDefault();
        if (next !== undefined) zoomTo(next, anchor());
        if (!there) return;
        hover(null);
        const to = place || !event.key.startsWith('Arrow') ? there : shown; // the first arrow shows where one stands
        choose(to);
        const px = pxAt(middleOf(line, to));
        if (box.current && (px < 0 || px > width)) box.current.scrollLeft += px - width / 2;
    };
    return (
        <>
            <div class="zoom">
                <p class="readout">{place ? readoutOf(line, place) : say('timeline.hint')}</p>
                <Buttons zoom={zoom} anchor={anchor} />
            </div>
            <div class="lanes">
                <Numbers line={line} head={say('table.stage')} right={36} text={(_, i) => format.count(i + 1)} />
                <div
                    ref={box}
                    class="window"
                    role="slider"
                    tabIndex={0}
                    aria-label={say('timeline.chart')}
                    aria-valuemin={1}
                    aria-valuemax={stageOf(line, shown.stage).start.length}
                    aria-valuenow={Math.max(0, shown.pass) + 1}
                    aria-valuetext={readoutOf(line, shown)}
                    onScroll={(event) => zoom.setLeft(event.currentTarget.scrollLeft)}
                    onPointerDown={onPointerDown}
                    onPointerMove={onPointerMove}
                    onPointerUp={onPointerUp}
                    onPointerCancel={() => setBrush(null)}
                    onPointerLeave={() => hover(null)}
                    onKeyDown={onKeyDown}
                >
                    <canvas ref={canvas} style={{ width: `${width}px`, height: `${tall}px`, marginTop: `${TOP}px` }} />
                    <Over line={line} zoom={zoom} place={place} brush={brush} />
                    <svg class="spacer" aria-hidden="true" width={inner} height="1" />
                </div>
                <Numbers line={line} head={say('timeline.waits')} right={44} text={(stage) => format.percent(stage.idle_share)} />
            </div>
        </>
    );
}

const SLIGHT = 0.01; // chosen: of the pipeline's time, what two ways to count it may differ by without a word

// The step time counts every transfer between stages as a wait; in the picture, which is played pass by pass, some are hidden.
function differenceOf(line: Timeline, counted: number): string | null {
    const played = Math.min(...line.stages.map(({ idle_seconds }) => idle_seconds));
    if (Math.abs(played - counted) < SLIGHT * line.makespan_seconds) return null;
    const cause = played < counted ? 'transfers' : 'none';
    return say('timeline.differs', { played, counted, cause });
}

function Told({ answer, line, counted }: { answer: TimelineAnswer; line: Timeline; counted: number }) {
    const difference = differenceOf(line, counted);
    const [chosen, choose] = useState<Place | null>(null);
    const stage = Math.min(chosen?.stage ?? line.slowest_stage, line.stages.length - 1); // whose passes the table lists
    return (
        <>
            <p class="finding">{finding(line)}</p>
            <p class="note">
                {say('timeline.schedule', { label: nameOf(SCHEDULE, line.schedule), summary: aboutOf(SCHEDULE, line.schedule) })}
            </p>
            <Drawing line={line} chosen={chosen} choose={choose} />
            <Legend line={line} />
            <p class="note">{sentences(tell(answer.note), tell(answer.basis))}</p>
            {difference && <p class="note">{difference}</p>}
            <Table title={say('timeline.stages')} label={say('timeline.chart')} rows={() => stageTable(line)} />
            <Table title={say('timeline.passes', { stage: stage + 1 })} label={say('timeline.chart')} rows={() => passTable(line, stage)} />
        </>
    );
}

interface Props {
    job: Job;
    counted: number; // seconds that the step time counts as waits
    ask: Core['timeline'];
}

export function PipelineTimeline({ job, counted, ask }: Props) {
    const { answer, known, stale } = useTimeline(job, ask);
    if (!answer?.ok) return <p class="note">{known && !stale ? say('timeline.failed') : say('timeline.working')}</p>;
    return (
        <div class={stale ? 'timeline stale' : 'timeline'}>
            <div role="status">{stale && <p class="note">{say('timeline.stale')}</p>}</div>
            {answer.timeline ? <Told answer={answer} line={answer.timeline} counted={counted} /> : <p class="note">{tell(answer.note)}</p>}
        </div>
    );
}
