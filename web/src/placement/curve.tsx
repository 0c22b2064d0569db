import { format } from '../format/format';
import { useWidth } from '../shared/drawing';
import { stepText } from '../shared/step-text';
import { Table } from '../shared/table';
import { say } from '../words/words';
import type { Course } from './search';

// The best so far over the moves tried. Most is won early: the moves stand on a logarithmic scale.
const HEIGHT = 120;
const TOP = 20;
const FOOT = 46;
const LEFT = 8;
const RIGHT = 76; // the values at the line's ends
const WIDEST = 640;
const FIRST = 1000; // moves at the left edge

export function Curve({ course, running }: { course: Course; running: boolean }) {
    const { box, width } = useWidth();
    const { points, moves, best_seconds: best, default_seconds: was } = course;
    const room = Math.max(120, Math.min(width, WIDEST) - LEFT - RIGHT);
    const last = Math.max(moves, FIRST * 10);
    const x = (tried: number): number => LEFT + (room * Math.log(Math.max(tried, FIRST) / FIRST)) / Math.log(last / FIRST);
    const highest = Math.max(was, ...points.map(([, seconds]) => seconds));
    const span = highest - best || 1;
    const y = (seconds: number): number => TOP + (HEIGHT * (highest - seconds)) / span;
    const line = points.map(([tried, seconds], i) => (i === 0 ? `M${x(tried)} ${y(seconds)}` : `H${x(tried)}V${y(seconds)}`)).join('');
    const powers = Array.from({ length: Math.floor(Math.log10(last) + 1e-9) - 2 }, (_, i) => 10 ** (i + 3));
    const every = Math.ceil((76 * Math.max(1, powers.length - 1)) / (x(powers.at(-1) ?? last) - x(FIRST) || 1)); // px that a number needs
    const fell = best < was * (1 - 1e-6);
    const title = fell
        ? say('placement.search.curve', { was: stepText(was), best: stepText(best) })
        : say('placement.search.level', { was: stepText(was) });
    const base = TOP + HEIGHT;
    return (
        <div ref={box} class="falling">
            <h4>{title}</h4>
            <svg width={LEFT + room + RIGHT} height={base + FOOT} aria-hidden="true">
                <line class="base" x1={LEFT} x2={LEFT + room} y1={base + 8} y2={base + 8} />
                {powers
                    .filter((_, i) => i % every === 0)
                    .map((power) => (
                        <g key={power}>
                            <line class="base" x1={x(power)} x2={x(power)} y1={base + 8} y2={base + 12} />
                            <text x={x(power)} y={base + 24} text-anchor={power === FIRST ? 'start' : 'middle'}>
                                {format.rounded(power)}
                            </text>
                        </g>
                    ))}
                <text x={LEFT + room} y={base + 40} text-anchor="end">
                    {room < 320 ? say('placement.search.x_short') : say('placement.search.x')}
                </text>
                <path class="line" d={line} />
                <text x={LEFT + room + 6} y={y(was) + 4}>
                    {stepText(was)}
                </text>
                {fell && (
                    <text class="best" x={LEFT + room + 6} y={y(best) + 4}>
                        {stepText(best)}
                    </text>
                )}
                <circle class="best" cx={LEFT + room} cy={y(best)} r="4" />
            </svg>
            {!running && (
                <Table
                    title={say('placement.search.table')}
                    label={title}
                    rows={() => [
                        [say('placement.search.moves'), say('placement.search.best')],
                        ...points.map(([tried, seconds]) => [format.count(tried), stepText(seconds)]),
                    ]}
                />
            )}
        </div>
    );
}
