import { useState } from 'preact/hooks';
import { format } from '../format';
import type { Heat } from '../heat';
import { t } from '../i18n';
import { m } from '../i18n/more';
import { degreeList, labelOf } from '../sentences';
import type { Actions, Page } from '../store';
import { Scatter } from './scatter';

// The plans that fit on the job's own number of GPUs, best first.
const KEYS = ['tensor_parallel', 'pipeline_parallel', 'context_parallel', 'micro_batch'] as const;
const FIRST_ROWS = 20;

export const planAt = ({ columns }: Heat, entry: number) =>
    ({
        tensor_parallel: columns.tensor_parallel[entry] ?? 1,
        pipeline_parallel: columns.pipeline_parallel[entry] ?? 1,
        context_parallel: columns.context_parallel[entry] ?? 1,
        micro_batch: columns.micro_batch[entry] ?? 1,
    }) as const;

export function isCurrent({ answer, problems }: Page, heat: Heat, entry: number): boolean {
    if (!answer || problems.length > 0) return false;
    const plan = planAt(heat, entry);
    return KEYS.every((key) => answer.job[key] === plan[key]) && answer.job.gpus === heat.columns.gpus[entry];
}

export function takePlan(act: Actions, heat: Heat, entry: number): void {
    act.change({ ...planAt(heat, entry) }, 'choose');
    document.getElementById('answer')?.scrollIntoView({ block: 'center' });
}

// Why the first comes before the second: only what the table shows.
function whyFirst(heat: Heat, gpus: number): string {
    const lead = heat.leads.find((one) => one.gpus === gpus);
    if (!lead) return m.best.onlyOne;
    const size = format.gb(Math.abs(lead.bytes));
    const memory = lead.bytes === 0 ? m.best.leadSame : lead.bytes > 0 ? m.best.leadMore(size) : m.best.leadLess(size);
    return `${lead.seconds > 0 ? m.best.lead(format.duration(lead.seconds)) : m.best.tie}${memory}`;
}

type Sorting = 'time' | 'memory';

interface TableProps {
    page: Page;
    heat: Heat;
    fastest: number[];
    suggested: number; // its row
    act: Actions;
}

function Ranking({ page, heat, fastest, suggested, act }: TableProps) {
    const [sorting, sort] = useState<Sorting>('time');
    const [rows, setRows] = useState(FIRST_ROWS);
    const { columns } = heat;
    const bytes = (entry: number): number => columns.total_bytes[entry] ?? 0;
    const ranked = fastest.map((entry, i) => ({ entry, rank: i + 1 }));
    const sorted = sorting === 'time' ? ranked : [...ranked].sort((a, b) => bytes(a.entry) - bytes(b.entry));
    const head = (by: Sorting, label: string, help: string) => (
        <th scope="col" class="r" aria-sort={sorting === by ? 'ascending' : 'none'}>
            <button type="button" class="link" title={help} onClick={() => sort(by)}>
                {label}
                <span aria-hidden="true">{sorting === by ? ' ▴' : ''}</span>
            </button>
        </th>
    );
    const rest = sorted.length - rows;
    return (
        <>
            <table class="ranking" aria-label={m.best.table}>
                <thead>
                    <tr>
                        <th scope="col">{m.best.rank}</th>
                        {KEYS.map((key) => (
                            <th key={key} scope="col" class="r" aria-label={labelOf(page.catalog.fields, key)}>
                                <span class="long">{t.short[key]}</span>
                                <span class="brief">{t.letters[key]}</span>
                            </th>
                        ))}
                        <th scope="col" class="r extra">
                            {t.short.data_parallel}
                        </th>
                        {head('time', m.best.time, m.best.byTime)}
                        <th scope="col" class="r extra">
                            {m.best.speed}
                        </th>
                        {head('memory', m.best.memory, m.best.byMemory)}
                        <th scope="col" class="r extra">
                            {m.best.share}
                        </th>
                    </tr>
                </thead>
                <tbody>
                    {sorted.slice(0, rows).map(({ entry, rank }) => {
                        const plan = planAt(heat, entry);
                        const current = isCurrent(page, heat, entry);
                        const take = () => takePlan(act, heat, entry);
                        const marks = [columns.row[entry] === suggested && m.best.suggested, current && m.best.current].filter(Boolean);
                        return (
                            <tr key={entry} class={current ? 'now' : undefined} onClick={take}>
                                <th scope="row">
                                    <button
                                        type="button"
                                        class="link"
                                        aria-pressed={current}
                                        aria-label={m.best.take(format.count(rank), degreeList(plan))}
                                        onClick={(event) => {
                                            event.stopPropagation();
                                            take();
                                        }}
                                    >
                                        {format.count(rank)}
                                    </button>{' '}
                                    <small>{marks.join(', ')}</small>
                                </th>
                                {KEYS.map((key) => (
                                    <td key={key} class="r">
                                        {format.count(plan[key])}
                                    </td>
                                ))}
                                <td class="r extra">{format.count(columns.data_parallel[entry] ?? 0)}</td>
                                <td class="r">{format.duration(columns.step_seconds[entry] ?? 0)}</td>
                                <td class="r extra">{format.rounded(heat.speed[entry] ?? 0)}</td>
                                <td class="r">{format.gb(bytes(entry))}</td>
                                <td class="r extra">{format.percent(columns.share[entry] ?? 0)}</td>
                            </tr>
                        );
                    })}
                </tbody>
            </table>
            {rest > 0 && (
                <p class="acts">
                    <button type="button" onClick={() => setRows(rows + FIRST_ROWS)}>
                        {m.best.more(format.count(Math.min(rest, FIRST_ROWS)))}
                    </button>
                </p>
            )}
        </>
    );
}

export function Best({ page, act }: { page: Page; act: Actions }) {
    const { heat } = page;
    if (!heat) return null;
    const gpus = Number(page.job.gpus);
    const { fastest = [], front = [] } = heat.summary.ranking.find((one) => one.gpus === gpus) ?? {};
    const fitting = front.filter((entry) => heat.columns.class[entry] === 0);
    const [first] = fastest;
    const filtered = Object.keys(page.heatFilter).length > 0;
    const suggested = filtered ? -1 : (heat.summary.auto.find((one) => one.gpus === gpus)?.row ?? -1);
    return (
        <section id="best" class={page.heatStale ? 'plans best stale' : 'plans best'} aria-labelledby="best-title">
            <h2 id="best-title">{m.best.title}</h2>
            {page.heatStale && <p class="note">{m.heat.stale}</p>}
            {first === undefined ? (
                <p>{m.best.none(format.count(gpus))}</p>
            ) : (
                <>
                    <p class="finding">
                        {m.best.finding(degreeList(planAt(heat, first)), format.duration(heat.columns.step_seconds[first] ?? 0))}.{' '}
                        <span>{whyFirst(heat, gpus)}</span>
                    </p>
                    <Scatter page={page} heat={heat} fastest={fastest} front={fitting} act={act} />
                    <Ranking key={gpus} page={page} heat={heat} fastest={fastest} suggested={suggested} act={act} />
                </>
            )}
        </section>
    );
}
