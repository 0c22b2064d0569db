import { useEffect, useRef, useState } from 'preact/hooks';
import type { Estimate, GroupId, Stage } from '../core/api';
import { format } from '../format/format';
import { Swatch } from '../shared/chart';
import { nameOf } from '../shared/names';
import { Table } from '../shared/table';
import type { Actions } from '../store/page';
import { listed, say, tell } from '../words/words';

// One bar per pipeline stage. Drawn in percent of the width, as the bar above is.
const BEYOND = 1.04;
const MANY = 16; // from here on a line has room for the number alone
const percent = (part: number): string => `${(part * 100).toFixed(3)}%`;

const numberOf = (index: number): string => format.count(index + 1);

function contents(stage: Stage): string {
    return listed([
        say('stages.layers', { count: stage.layers }),
        stage.embedding && say('stages.embedding'),
        stage.head && say('stages.head'),
    ]);
}

interface BarProps {
    stage: Stage;
    groups: string[];
    end: number; // of the scale, in cards
    cardBytes: number;
    line: number;
}

function StageBar({ stage, groups, end, cardBytes, line }: BarProps) {
    const at = (bytes: number): number => bytes / cardBytes / end;
    let from = 0;
    return (
        <svg aria-hidden="true">
            <rect class="card" width={percent(1 / end)} height="100%" />
            {groups.map((id) => {
                const bytes = stage.groups[id as GroupId] ?? 0;
                const x = from;
                from += bytes;
                if (bytes === 0) return null;
                return (
                    <g key={id}>
                        <rect class={`f-${id}`} x={percent(at(x))} width={percent(at(bytes))} height="100%" />
                        <rect class="pattern" x={percent(at(x))} width={percent(at(bytes))} height="100%" fill={`url(#p-${id})`} />
                    </g>
                );
            })}
            <line class="held" x1={percent(at(stage.static_bytes))} x2={percent(at(stage.static_bytes))} y2="100%" />
            <line class="line80" x1={percent(line / end)} x2={percent(line / end)} y2="100%" />
            <line class="cardline" x1={percent(1 / end)} x2={percent(1 / end)} y2="100%" />
        </svg>
    );
}

function asTable(answer: Estimate): string[][] {
    const names = answer.groups.map((group) => nameOf('group', group));
    const digits = answer.stages.every(({ in_flight }) => Number.isInteger(in_flight)) ? 0 : 1; // of a column: one number
    return [
        [
            say('table.stage'),
            say('table.layers'),
            say('table.in_flight'),
            ...[...names, say('table.held'), say('table.total')].map((name) => say('table.in_gib', { name })),
            say('table.share'),
        ],
        ...answer.stages.map((stage, i) => [
            numberOf(i),
            contents(stage),
            format.fixed(stage.in_flight, digits),
            ...answer.groups.map((group) => format.gib(stage.groups[group.id] ?? 0)),
            format.gib(stage.static_bytes),
            format.gib(stage.bytes),
            format.percent(stage.share),
        ]),
    ];
}

export function Stages({ answer, act }: { answer: Estimate; act: Actions }) {
    const { stages, worst_stage: worst, stage: shown } = answer;
    const [focus, setFocus] = useState(shown);
    const list = useRef<HTMLUListElement>(null);
    const focused = Math.min(focus, stages.length - 1);
    const end = Math.max(1, ...stages.map((stage) => stage.share * BEYOND));
    const many = stages.length > MANY;
    const groups = answer.groups.map((group) => group.id);

    // The stage shown comes into sight within the list, never by moving the page.
    useEffect(() => {
        const box = list.current;
        const line = box?.children[shown] as HTMLElement | undefined;
        if (box && line && (line.offsetTop < box.scrollTop || line.offsetTop + line.offsetHeight > box.scrollTop + box.clientHeight))
            box.scrollTop = line.offsetTop - box.clientHeight / 2;
        setFocus(shown);
    }, [shown, stages.length]);

    const onKeyDown = (event: KeyboardEvent) => {
        const buttons = [...(list.current?.querySelectorAll('button') ?? [])];
        const now = buttons.indexOf(document.activeElement as HTMLButtonElement);
        const last = buttons.length - 1;
        const steps: Record<string, number> = {
            ArrowDown: now + 1,
            ArrowUp: now - 1,
            PageDown: now + 10,
            PageUp: now - 10,
            Home: 0,
            End: last,
        };
        const to = steps[event.key];
        if (to === undefined) return;
        event.preventDefault();
        buttons[Math.max(0, Math.min(last, to))]?.focus();
    };
    return (
        <section class="stages" aria-labelledby="stages-title">
            <h2 id="stages-title">{say('stages.title')}</h2>
            <p class="finding">{tell(answer.worst_why)}</p>
            <p class="note">{say('stages.subtitle', { card: format.nominal(answer.gpu.memory_gib), count: stages.length })}</p>
            <ul ref={list} class={many ? 'many' : undefined} aria-label={say('stages.list')} onKeyDown={onKeyDown}>
                {stages.map((stage, i) => {
                    return (
                        <li key={i}>
                            <button
                                type="button"
                                aria-pressed={i === shown}
                                tabIndex={i === focused ? 0 : -1}
                                onClick={() => act.showStage(i === worst ? null : i)}
                                onFocus={() => setFocus(i)}
                            >
                                <span class="name">
                                    <span class="sr">{say('table.stage')} </span>
                                    <b>{numberOf(i)}</b> <small class={many ? 'sr' : undefined}>{contents(stage)}</small>
                                </span>{' '}
                                <StageBar
                                    stage={stage}
                                    groups={groups}
                                    end={end}
                                    cardBytes={answer.card_bytes}
                                    line={answer.line_allocated_share}
                                />
                                <span class="size">
                                    {format.gb(stage.bytes)}
                                    <span class="sr"> {say('stages.share', { share: stage.share })}</span>
                                    {i === worst && <b> ◂ {say('stages.fullest')}</b>}
                                </span>
                            </button>
                        </li>
                    );
                })}
            </ul>
            <ul class="legend" aria-hidden="true">
                {answer.groups.map((group) => (
                    <li key={group.id}>
                        <Swatch id={group.id} /> {nameOf('group', group)}
                    </li>
                ))}
                <li>
                    <svg class="key" aria-hidden="true" width="14" height="14">
                        <line class="held" x1="7" x2="7" y2="14" />
                    </svg>{' '}
                    {say('stages.held')}
                </li>
                <li>
                    <svg class="key" aria-hidden="true" width="14" height="14">
                        <line class="line80" x1="7" x2="7" y2="14" />
                    </svg>{' '}
                    {say('stages.line', { size: answer.line_allocated_share * answer.card_bytes })}
                </li>
                <li>
                    <svg class="key" aria-hidden="true" width="14" height="14">
                        <line class="cardline" x1="7" x2="7" y2="14" />
                    </svg>{' '}
                    {say('stages.card')}
                </li>
            </ul>
            <div role="status">
                {shown !== worst && (
                    <p class="showing">
                        {say('stages.showing', { stage: shown + 1, count: stages.length })}{' '}
                        <button type="button" onClick={() => act.showStage(null)}>
                            {say('stages.back')}
                        </button>
                    </p>
                )}
            </div>
            <Table title={say('table.title')} label={say('stages.title')} rows={() => asTable(answer)} />
        </section>
    );
}
