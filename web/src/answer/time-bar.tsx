import type { FunctionComponent } from 'preact';
import { useState } from 'preact/hooks';
import type { Estimate, TimeKind } from '../core/api';
import { format } from '../format/format';
import { kindsOf } from '../format/sums';
import { percent, room, TimeFill } from '../shared/chart';
import type { Actions, Page } from '../store/page';
import { say } from '../words/words';
import type { TimeTableProps } from './time-table';

// One step from end to end, by what the GPUs do meanwhile; the items stand in the table below it.
interface Props {
    page: Page;
    answer: Estimate;
    act: Actions;
    Table: FunctionComponent<TimeTableProps>;
}

// "804 ms" fits where a size of memory does, "4 min 55 s" needs more. A letter of Chinese or Japanese is as wide as two others.
const USUAL = 7;
const widthOf = (text: string): number => [...text].reduce((sum, letter) => sum + (letter > '\u2e80' ? 2 : 1), 0);
const isLong = (text: string): boolean => widthOf(text) > USUAL;

export function TimeBar({ page, answer, act, Table }: Props) {
    const [chosen, choose] = useState<TimeKind | null>(null);
    const kinds = kindsOf(answer.time.items);
    const [most] = [...kinds].sort((a, b) => b.share - a.share);
    if (!most) return null;
    const starts = kinds.map((_, i) => kinds.slice(0, i).reduce((sum, one) => sum + one.share, 0));
    return (
        <section class="card-bar time-bar" aria-labelledby="time-title">
            <h2 id="time-title">{say('step.finding', { kind: say(`step.kind.${most.kind}`), share: most.share })}</h2>
            {/* biome-ignore lint/a11y/useSemanticElements: a group of buttons in a drawing */}
            <svg class="bar" height="56" role="group" aria-label={say('step.label')}>
                {kinds.map(({ kind, seconds, share }, i) => {
                    const toggle = () => choose(chosen === kind ? null : kind);
                    return (
                        // biome-ignore lint/a11y/useSemanticElements: a button cannot stand inside an SVG drawing
                        <g
                            key={kind}
                            role="button"
                            tabindex={0}
                            aria-label={say('step.part', { label: say(`step.short.${kind}`), time: seconds, share: share })}
                            aria-pressed={chosen === kind}
                            class={`part t-${kind} ${room(share)}${isLong(format.duration(seconds)) ? ' long' : ''}`}
                            onClick={toggle}
                            onKeyDown={(event) => {
                                if (event.key !== 'Enter' && event.key !== ' ') return;
                                event.preventDefault();
                                toggle();
                            }}
                        >
                            <svg aria-hidden="true" x={percent(starts[i] ?? 0)} width={percent(share)} height="100%">
                                <TimeFill kind={kind} />
                                <rect class="edge" width="100%" height="100%" />
                                <text class="name" x="10" y="23">
                                    {say(`step.short.${kind}`)}
                                </text>{' '}
                                <text class="size" x="10" y="42">
                                    {format.duration(seconds)}
                                </text>
                            </svg>
                        </g>
                    );
                })}
            </svg>
            <Table page={page} answer={answer} chosen={chosen} act={act} />
        </section>
    );
}
