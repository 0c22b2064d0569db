import { useRef, useState } from 'preact/hooks';
import type { Ranked } from '../core/api';
import { format } from '../format/format';
import { marks, useWidth } from '../shared/drawing';
import { wholePlan } from '../shared/plan-words';
import { settled } from '../shared/settled';
import type { Actions } from '../store/page';
import { planAt, rows } from '../store/ranked';
import { say } from '../words/words';
import { isShown, type Shown, takeRanked } from './shown';

// Memory against time of the plans that fit. The line joins those that no other beats in both.
const GIB = 2 ** 30;
const HEIGHT = 200; // of the plot
const LEFT = 34;
const TOP = 24;
const FOOT = 40;
const LABEL = 100; // px: what a time below the plot needs
const SPREAD = 2; // plans that take longer than this many times the fastest would press the others into a corner

interface Props {
    shown: Shown;
    ranked: Ranked;
    act: Actions;
}

export const Scatter = settled(({ shown, ranked, act }: Props) => {
    const { box, width } = useWidth();
    const [at, setAt] = useState<number | null>(null);
    const group = useRef<SVGSVGElement>(null);
    const seconds = (entry: number): number => ranked.plans.step_seconds?.[entry] ?? 0;
    const bytes = (entry: number): number => ranked.plans.whole_bytes?.[entry] ?? 0;
    // Rows of one group stand in another order than that of their time.
    const front = [...ranked.front].sort((a, b) => seconds(a) - seconds(b));
    const all = Array.from({ length: rows(ranked) }, (_, row) => row);
    const card = (ranked.plans.total_bytes?.[0] ?? 0) / (ranked.plans.share?.[0] ?? 1); // of this list: the answer above may be of another run, or missing
    const least = Math.min(...all.map(seconds));
    const inSight = (entry: number): boolean => seconds(entry) <= least * SPREAD;
    const line = front.filter(inSight);
    const dots = all.filter(inSight);
    if (dots.length < 2) return null;
    const most = Math.max(...dots.map(seconds), ...line.map(seconds));
    const room = Math.max(120, width - LEFT - 16);
    const span = most - least || 1;
    const x = (time: number): number => LEFT + 12 + ((time - least) / span) * (room - 12);
    const y = (size: number): number => TOP + HEIGHT * (1 - size / card);
    const base = TOP + HEIGHT;
    const now = Math.min(at ?? 0, line.length - 1);
    const told = (entry: number): string =>
        say('best.point', { plan: wholePlan(shown.catalog, planAt(ranked, entry)), time: seconds(entry), memory: bytes(entry) });
    const onKeyDown = (event: KeyboardEvent) => {
        const steps: Record<string, number> = { ArrowRight: now + 1, ArrowDown: now + 1, ArrowLeft: now - 1, ArrowUp: now - 1 };
        const ends: Record<string, number> = { Home: 0, End: line.length - 1 };
        const to = steps[event.key] ?? ends[event.key];
        const entry = line[now];
        if (to !== undefined) {
            (group.current?.children[Math.max(0, Math.min(line.length - 1, to))] as SVGElement | undefined)?.focus();
        } else if ((event.key === 'Enter' || event.key === ' ') && entry !== undefined)
            takeRanked(act, shown.catalog, planAt(ranked, entry));
        else return;
        event.preventDefault();
    };
    // A step down at every point: what lies to the right and above is beaten by it.
    const path = line.map(
        (entry, i) => `${i === 0 ? 'M' : 'H'}${x(seconds(entry)).toFixed(1)}${i === 0 ? ' ' : 'V'}${y(bytes(entry)).toFixed(1)}`,
    );
    const last = Math.max(1, Math.min(4, Math.floor(room / LABEL) - 1));
    const times = Array.from({ length: last + 1 }, (_, part) => least + (span * part) / last);
    return (
        <div ref={box} class="scatter">
            <h3>{say('best.chart_title', { front: front.length, all: all.length })}</h3>
            <p class="readout" aria-live="polite">
                {at === null || line[now] === undefined ? say('best.hint') : told(line[now])}
            </p>
            <svg width={width} height={base + FOOT} role="presentation">
                <svg aria-hidden="true" class="plot">
                    {marks(card / GIB, 4).map((gib) => (
                        <g key={gib} class="rule">
                            <line x1={LEFT} x2={LEFT + room} y1={y(gib * GIB)} y2={y(gib * GIB)} />
                            <text x={LEFT - 6} y={y(gib * GIB) + 4} text-anchor="end">
                                {format.nominal(gib)}
                            </text>
                        </g>
                    ))}
                    <text x={0} y={12}>
                        {say('best.y')}
                    </text>
                    {times.map((time, i) => (
                        <text key={time} x={x(time)} y={base + 16} text-anchor={i === 0 ? 'start' : i === last ? 'end' : 'middle'}>
                            {format.duration(time)}
                        </text>
                    ))}
                    <text x={LEFT + room} y={base + 34} text-anchor="end">
                        {say('best.x')}
                    </text>
                    {dots.map((entry) => (
                        <circle key={entry} class="dot" cx={x(seconds(entry))} cy={y(bytes(entry))} r="3" />
                    ))}
                    <path class="front" d={path.join('')} />
                </svg>
                {/* biome-ignore lint/a11y/useSemanticElements: a group of buttons in a drawing */}
                <svg ref={group} class="plot" role="group" aria-label={say('best.chart')} onKeyDown={onKeyDown}>
                    {line.map((entry, i) => (
                        // biome-ignore lint/a11y/useSemanticElements: a button cannot stand inside an SVG drawing
                        <g
                            key={entry}
                            role="button"
                            tabindex={i === now ? 0 : -1}
                            aria-label={told(entry)}
                            aria-pressed={isShown(shown, planAt(ranked, entry), ranked.gpus)}
                            class="point"
                            onClick={() => takeRanked(act, shown.catalog, planAt(ranked, entry))}
                            onFocus={() => setAt(i)}
                            onPointerEnter={() => setAt(i)}
                        >
                            <circle class="hit" cx={x(seconds(entry))} cy={y(bytes(entry))} r="12" />
                            <circle class="mark" cx={x(seconds(entry))} cy={y(bytes(entry))} r="5" />
                        </g>
                    ))}
                </svg>
            </svg>
        </div>
    );
});
