import type { Estimate } from '../core/api';
import { format } from '../format/format';
import { bytes } from '../format/in-words';
import { memoryBar } from '../share/bar';
import { lineText, summaryOf, timeOf, verdictOf } from '../shared/answer-words';
import { Patterns, percent, room } from '../shared/chart';
import { Legend } from '../shared/legend';
import { nameOf } from '../shared/names';
import type { Page } from '../store/page';
import { listed, say } from '../words/words';

const TALL = 56;

function Bar({ answer }: { answer: Estimate }) {
    const { parts, card, line } = memoryBar(answer);
    const said = parts.map(({ group }) => `${nameOf('group', group)} ${bytes(group.bytes)}`);
    return (
        <div class="card-bar">
            <svg class="above" height="20" aria-hidden="true">
                <text x={percent(line)} y="14" text-anchor={line < 0.5 ? 'start' : 'end'}>
                    {lineText(answer)}
                </text>
            </svg>
            <svg class="bar" height={TALL} role="img" aria-label={listed([say('bar.label'), ...said])}>
                <rect class="card" width={percent(card)} height="100%" />
                {parts.map(({ group, from, width }) => (
                    <svg
                        key={group.id}
                        class={`part ${group.id} ${room(width)}`}
                        x={percent(from)}
                        width={percent(width)}
                        height="100%"
                        aria-hidden="true"
                    >
                        <rect class={`f-${group.id}`} width="100%" height="100%" />
                        <rect class="pattern" width="100%" height="100%" fill={`url(#p-${group.id})`} />
                        <rect class="edge" width="100%" height="100%" />
                        <text class="name" x="10" y="23">
                            {nameOf('group', group)}
                        </text>
                        <text class="size" x="10" y="43">
                            {format.gb(group.bytes)}
                        </text>
                    </svg>
                ))}
                <line class="line80" x1={percent(line)} x2={percent(line)} y1="0" y2="100%" />
                <rect class="frame" width={percent(card)} height="100%" />
            </svg>
            <svg class="scale" height="22" aria-hidden="true">
                <text class="cardsize" x={percent(card)} y="17" text-anchor={card < 0.5 ? 'start' : 'end'}>
                    {say('bar.card', { size: format.nominal(answer.gpu.memory_gib) })}
                </text>
            </svg>
        </div>
    );
}

// One run for the page of somebody else: to read, with a way to the whole.
export function Embedded({ page, whole }: { page: Page; whole: string }) {
    const { answer, problems } = page;
    const [problem] = problems;
    return (
        <>
            <Patterns />
            <h1>
                <span class={`verdict ${problem ? 'cannot' : answer?.class}`}>
                    {problem ? verdictOf(problem) : answer && say(`answer.${answer.class}`)}
                </span>{' '}
                <span class="summary">{summaryOf(page)}</span>
            </h1>
            {answer && !problem && (
                <>
                    <Bar answer={answer} />
                    <Legend answer={answer} />
                    <p>{timeOf(answer)}</p>
                </>
            )}
            <p class="note">
                <a href={whole} target="_blank" rel="noopener">
                    {say('embed.whole')}
                </a>
            </p>
        </>
    );
}
