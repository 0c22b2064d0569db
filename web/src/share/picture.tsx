// The answer as a drawing of 1200 × 630, the size that previews have. It stands by itself: no style sheet, no script, one set of colours.
import type { Estimate } from '../core/api';
import { format } from '../format/format';
import { bytes } from '../format/in-words';
import { lineText, summaryOf, timeOf } from '../shared/answer-words';
import { nameOf } from '../shared/names';
import { wholePlan } from '../shared/plan-words';
import type { Page } from '../store/page';
import { say } from '../words/words';
import { type BarPart, memoryBar } from './bar';
import { font, linesOf, type Measure } from './lines';

export const WIDTH = 1200;
export const HEIGHT = 630;
const SIDE = 64;
const INSIDE = WIDTH - 2 * SIDE;

// The light ones of page/tokens.css: picture.test.tsx compares them.
export const COLOURS = {
    bg: '#fcfcfa',
    ink: '#16181a',
    soft: '#595f66',
    line: '#dfdfd8',
    wash: '#f3f3ee',
    ok: '#1a7f37',
    risk: '#8a5a00',
    no: '#b42318',
    weights: '#0072b2',
    gradients: '#56b4e9',
    optimizer: '#e69f00',
    activations: '#009e73',
    temporaries: '#cc79a7',
    workspaces: '#5f6b76',
    outside: '#999',
};
const VERDICTS = { fits: COLOURS.ok, at_risk: COLOURS.risk, does_not_fit: COLOURS.no };
const DARK = new Set(['weights', 'workspaces']); // light letters read better on these

interface TextProps {
    lines: readonly string[];
    y: number;
    size: number;
    weight?: number;
    fill?: string;
    x?: number;
    end?: boolean;
}

const LEADING = 1.3;

function Lines({ lines, y, size, weight = 400, fill = COLOURS.ink, x = SIDE, end = false }: TextProps) {
    return (
        <text font-size={size} font-weight={weight} fill={fill} text-anchor={end ? 'end' : 'start'}>
            {lines.map((line, i) => (
                <tspan key={line} x={x} y={y + i * size * LEADING}>
                    {line}
                </tspan>
            ))}
        </text>
    );
}

function Mark() {
    return (
        <g transform={`translate(${SIDE} 44)`}>
            <path fill={COLOURS.weights} d="M0 0h12v12H0z" />
            <path fill={COLOURS.optimizer} d="M15 0h12v12H15z" />
            <path fill={COLOURS.activations} d="M0 15h12v12H0z" />
            <path fill={COLOURS.temporaries} d="M15 15h12v12H15z" />
        </g>
    );
}

interface Drawn {
    answer: Estimate;
    measure: Measure;
}
// The parts that have no room for their name and size, in a line below the bar, the largest first, as far as it reaches.
function Named({ parts, measure, from, to }: { parts: readonly BarPart[]; measure: Measure; from: number; to: number }) {
    let x = from;
    return (
        <>
            {[...parts]
                .sort((a, b) => b.width - a.width)
                .map(({ group }) => {
                    const text = `${nameOf('group', group)} ${bytes(group.bytes)}`;
                    const at = x;
                    const end = at + 18 + measure(text, font(16));
                    if (end > to) return null;
                    x = end + 20;
                    return (
                        <g key={group.id}>
                            <rect x={at} y={TOP + TALL + 16} width="12" height="12" fill={COLOURS[group.id]} />
                            <Lines lines={[text]} x={at + 18} y={TOP + TALL + 27} size={16} />
                        </g>
                    );
                })}
        </>
    );
}

const TOP = 326;
const TALL = 76;

function Bar({ answer, measure }: Drawn) {
    const { parts, card, line } = memoryBar(answer);
    const x = (share: number): number => SIDE + share * INSIDE;
    const narrow = card < 0.6; // much more is needed than the card has: the texts of its end stand to the right of it
    const room = (text: string, size: number, weight: number, width: number): boolean => measure(text, font(size, weight)) < width - 24;
    const label = say('bar.card', { size: format.nominal(answer.gpu.memory_gib) });
    const beside = measure(label, font(18, 600)) + 24;
    const nameless = parts.filter(
        ({ group, width }) => !room(nameOf('group', group), 18, 600, width * INSIDE) || !room(bytes(group.bytes), 18, 400, width * INSIDE),
    );
    const caption = answer.stage === answer.worst_stage ? say('bar.label') : say('bar.stage', { stage: answer.stage + 1 });
    return (
        <>
            <Lines lines={[caption]} x={narrow ? WIDTH - SIDE : SIDE} y={TOP - 14} size={18} fill={COLOURS.soft} end={narrow} />
            <rect x={SIDE} y={TOP} width={card * INSIDE} height={TALL} fill={COLOURS.wash} />
            {parts.map(({ group, from, width }) => {
                const [name, size] = [nameOf('group', group), bytes(group.bytes)];
                const fill = DARK.has(group.id) ? '#fff' : '#10150f';
                return (
                    <g key={group.id}>
                        <rect
                            x={x(from)}
                            y={TOP}
                            width={width * INSIDE}
                            height={TALL}
                            fill={COLOURS[group.id]}
                            stroke={COLOURS.bg}
                            stroke-width="2"
                        />
                        {room(name, 18, 600, width * INSIDE) && (
                            <Lines lines={[name]} x={x(from) + 12} y={TOP + 32} size={18} weight={600} fill={fill} />
                        )}
                        {room(size, 18, 400, width * INSIDE) && (
                            <Lines lines={[size]} x={x(from) + 12} y={TOP + 57} size={18} fill={fill} />
                        )}
                    </g>
                );
            })}
            <rect x={SIDE} y={TOP} width={card * INSIDE} height={TALL} fill="none" stroke={COLOURS.ink} stroke-width="2" />
            <path d={`M${x(line)} ${TOP - 8}v${TALL + 16}`} stroke={COLOURS.ink} stroke-width="2" stroke-dasharray="7 5" />
            <Lines lines={[lineText(answer)]} x={x(line)} y={TOP - 14} size={18} fill={COLOURS.soft} end={!narrow} />
            <Lines lines={[label]} x={narrow ? SIDE : x(card)} y={TOP + TALL + 28} size={18} weight={600} end={!narrow} />
            <Named parts={nameless} measure={measure} from={narrow ? SIDE + beside : SIDE} to={narrow ? WIDTH - SIDE : x(card) - beside} />
        </>
    );
}

interface Props extends Drawn {
    page: Page;
    link: string;
    date: Date;
}

export function Picture({ page, answer, link, date, measure }: Props) {
    const wrapped = (text: string, size: number, most: number, weight = 400) => linesOf(text, INSIDE, most, font(size, weight), measure);
    const summary = summaryOf(page);
    return (
        // The name of the namespace makes the drawing a file that stands alone.
        <svg
            xmlns="http://www.w3.org/2000/svg"
            viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
            width={WIDTH}
            height={HEIGHT}
            role="img"
            aria-label={summary}
            font-family={font(1).replace(/^\d+ 1px /, '')}
        >
            <rect width={WIDTH} height={HEIGHT} fill={COLOURS.bg} />
            <Mark />
            <Lines lines={[say('page.name')]} x={SIDE + 40} y={67} size={26} weight={650} />
            <Lines lines={[format.date(date)]} x={WIDTH - SIDE} y={67} size={20} fill={COLOURS.soft} end />
            <Lines lines={[say(`answer.${answer.class}`)]} y={160} size={64} weight={650} fill={VERDICTS[answer.class]} />
            <Lines lines={wrapped(summary, 32, 2, 500)} y={214} size={32} weight={500} />
            <Bar answer={answer} measure={measure} />
            <Lines lines={wrapped(timeOf(answer), 24, 3)} y={466} size={24} />
            <Lines lines={wrapped(wholePlan(page.catalog, answer.job, answer.data_parallel), 18, 2)} y={550} size={18} />
            <Lines lines={linesOf(link, INSIDE, 2, font(16), measure, true)} y={597} size={16} fill={COLOURS.soft} />
        </svg>
    );
}
