import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { RANKED_KEYS, type Ranked, type RankedPlan, type Versus } from '../api';
import { format } from '../format';
import { t } from '../i18n';
import { m } from '../i18n/more';
import { FASTEST_FIRST, inOrder, pressed, type SortKey } from '../list';
import { planAt, type Ranking, rows, settingsOf } from '../ranking';
import { degreeList, labelOf } from '../sentences';
import type { Actions, Page } from '../store';
import { Explore } from './explore';
import { choiceLabel, ListFilters, NothingLeft } from './filters';
import { Scatter } from './scatter';
import { settled } from './settled';
import { differencesOf, WhyNot } from './why-not';

// The fastest plans on the job's own number of GPUs, of everything that was tried.
const KEYS = ['tensor_parallel', 'pipeline_parallel', 'context_parallel', 'micro_batch'] as const;
const FIRST_ROWS = 20;

// Of the page, what the list and its drawing take.
export type Shown = Pick<Page, 'catalog' | 'answer' | 'problems'>;

export function isShown({ answer, problems }: Shown, plan: RankedPlan, gpus: number): boolean {
    if (!answer || problems.length > 0 || answer.job.gpus !== gpus) return false;
    // without recomputation in blocks their number plays no part
    return RANKED_KEYS.every((key) => answer.job[key] === plan[key] || (key === 'recompute_layers' && plan.recompute !== 'block'));
}

export function takeRanked(act: Actions, plan: RankedPlan): void {
    act.change(settingsOf(plan), 'choose');
    document.getElementById('answer')?.scrollIntoView({ block: 'center' });
}

// What a plan sets beside its degrees, as far as it is not the plainest.
export function besides(page: Pick<Page, 'catalog'>, plan: RankedPlan): string {
    const chunks = Number(plan.virtual_stages);
    const layers = format.count(Number(plan.recompute_layers));
    const recompute = {
        none: '',
        selective: m.best.selective,
        block: m.best.block(Number(plan.recompute_layers), layers),
        full: m.best.full,
    };
    return [
        plan.schedule !== '1f1b' && choiceLabel(page, 'schedule', String(plan.schedule)),
        plan.schedule === '1f1b' && chunks > 1 && m.best.chunks(format.count(chunks)),
        recompute[plan.recompute as keyof typeof recompute],
        plan.zero !== 'optimizer' && choiceLabel(page, 'zero', String(plan.zero)),
        !plan.sequence_parallel && Number(plan.tensor_parallel) > 1 && m.best.noSequence,
        plan.count_loss_as_layer && m.best.ends,
        Number(plan.expert_parallel) > 1 && `${t.short.expert_parallel} ${format.count(Number(plan.expert_parallel))}`,
    ]
        .filter(Boolean)
        .join(', ');
}

export const wholePlan = (page: Pick<Page, 'catalog'>, plan: RankedPlan): string =>
    [degreeList({ ...plan, expert_parallel: 1 }), besides(page, plan)].filter(Boolean).join(', ');

interface TableProps {
    shown: Shown;
    ranked: Ranked;
    act: Actions;
}

function Row({ shown, plan, rank, gpus, act }: { shown: Shown; plan: RankedPlan; rank: number; gpus: number; act: Actions }) {
    const current = isShown(shown, plan, gpus);
    const take = () => takeRanked(act, plan);
    const more = besides(shown, plan);
    return (
        <tr class={current ? 'now' : undefined} onClick={take}>
            <th scope="row">
                <button
                    type="button"
                    class="link"
                    aria-pressed={current}
                    aria-label={m.best.take(format.count(rank), wholePlan(shown, plan))}
                    onClick={(event) => {
                        event.stopPropagation();
                        take();
                    }}
                >
                    {format.count(rank)}
                </button>{' '}
                <small>{current && m.best.current}</small>
                {more && <small class="brief">{more}</small>}
            </th>
            {KEYS.map((key) => (
                <td key={key} class="r">
                    {format.count(Number(plan[key]))}
                </td>
            ))}
            <td class="r extra">{format.count(plan.data_parallel)}</td>
            <td class="besides extra">{more || '–'}</td>
            <td class="r">{format.step(plan.step_seconds)}</td>
            <td class="r extra">{format.rounded(plan.tokens_per_s)}</td>
            <td class="r">{format.gb(plan.total_bytes)}</td>
            <td class="r extra">{format.percent(plan.share)}</td>
        </tr>
    );
}

const Table = settled(({ shown, ranked, act }: TableProps) => {
    const [sorting, sort] = useState(FASTEST_FIRST);
    const [length, lengthen] = useState(FIRST_ROWS);
    const count = rows(ranked);
    const sorted = inOrder(
        Array.from({ length: count }, (_, i) => ({ plan: planAt(ranked, i), rank: i + 1 })),
        sorting,
    );
    const head = (by: SortKey, label: ComponentChildren, { name, kind = 'r' }: { name?: string; kind?: string } = {}) => {
        const direction = sorting.by !== by ? 'none' : sorting.down ? 'descending' : 'ascending';
        return (
            <th key={by} scope="col" class={kind} aria-label={name} aria-sort={direction}>
                <button
                    type="button"
                    class="link"
                    aria-label={by === 'rank' ? name : undefined}
                    title={m.best.sort}
                    onClick={() => sort(pressed(sorting, by))}
                >
                    {label}
                    {direction !== 'none' && <span aria-hidden="true">{sorting.down ? '▾' : '▴'}</span>}
                </button>
            </th>
        );
    };
    const rest = sorted.length - length;
    return (
        <>
            {ranked.ranked > count && <p class="note">{m.best.part(format.count(ranked.ranked), format.count(count))}</p>}
            <table class="ranking" aria-label={m.best.table}>
                <thead>
                    <tr>
                        {head('rank', m.best.rank, { name: m.best.rankName, kind: '' })}
                        {KEYS.map((key) =>
                            head(
                                key,
                                <>
                                    <span class="long">{t.short[key]}</span>
                                    <span class="brief">{t.letters[key]}</span>
                                </>,
                                { name: labelOf(shown.catalog.fields, key) },
                            ),
                        )}
                        {head('data_parallel', t.short.data_parallel, { kind: 'r extra' })}
                        <th scope="col" class="besides extra">
                            {m.best.besides}
                        </th>
                        {head('step_seconds', m.best.time)}
                        {head('tokens_per_s', m.best.speed, { kind: 'r extra' })}
                        {head('total_bytes', m.best.memory)}
                        {head('share', m.best.share, { kind: 'r extra' })}
                    </tr>
                </thead>
                <tbody>
                    {sorted.slice(0, length).map(({ plan, rank }) => (
                        <Row key={rank} shown={shown} plan={plan} rank={rank} gpus={ranked.gpus} act={act} />
                    ))}
                </tbody>
            </table>
            {rest > 0 && (
                <p class="acts">
                    <button type="button" onClick={() => lengthen(length + FIRST_ROWS)}>
                        {m.best.more(format.count(Math.min(rest, FIRST_ROWS)))}
                    </button>
                </p>
            )}
        </>
    );
});

// Why the first comes before the second, from the core's comparison of the two.
function leadOf({ seconds = 0, seconds_share = 0, bytes = 0, time = [] }: Versus): string {
    const size = format.gb(Math.abs(bytes));
    const memory = bytes === 0 ? m.best.leadSame : bytes > 0 ? m.best.leadLess(size) : m.best.leadMore(size);
    const reasons = differencesOf(time, -1);
    const ahead = seconds > 0 ? m.best.lead(format.duration(seconds), format.percent(seconds_share)) : m.best.tie;
    return `${ahead}${reasons ? `: ${reasons}` : ''}. ${memory}`;
}

function Finding({ page, ranked, ranking }: { page: Page; ranked: Ranked; ranking: Ranking }) {
    const filtered = Object.keys(ranking.only).length > 0;
    if (rows(ranked) === 0) {
        const { closest } = ranked;
        return (
            <p class="finding">
                {(filtered ? m.best.noneFiltered : m.best.none)(format.count(ranked.gpus))}{' '}
                {closest && m.best.closest(wholePlan(page, closest), format.gb(closest.total_bytes), format.percent(closest.share))}
            </p>
        );
    }
    const first = planAt(ranked, 0);
    return (
        <p class="finding">
            {(filtered ? m.best.findingFiltered : m.best.finding)(wholePlan(page, first), format.duration(first.step_seconds))}.{' '}
            <span>
                {ranking.lead ? leadOf(ranking.lead) : rows(ranked) === 1 ? (filtered ? m.best.onlyOneFiltered : m.best.onlyOne) : ''}
            </span>
        </p>
    );
}

function Progress({ ranking, act }: { ranking: Ranking; act: Actions }) {
    const { progress, stopped, stale } = ranking;
    if (progress) {
        const done = m.best.progress(format.count(progress.parts), format.count(progress.of));
        return (
            <p class="note" role="status">
                {done} {progress.seconds !== null && m.best.soFar(format.duration(progress.seconds))}{' '}
                <button type="button" onClick={act.stopRanking}>
                    {m.best.stop}
                </button>
            </p>
        );
    }
    if (stopped) {
        return (
            <p class="note" role="status">
                {m.best.stopped}{' '}
                <button type="button" onClick={act.rankAgain}>
                    {m.best.again}
                </button>
            </p>
        );
    }
    return stale ? <p class="note">{m.heat.stale}</p> : null;
}

function Funnel({ page, ranked }: { page: Page; ranked: Ranked }) {
    const rules = new Map(page.catalog.rules.map((rule) => [rule.id, rule.label]));
    const others = ranked.rejected.map(({ rule, count }) => m.heat.rejectedBy(format.count(count), rules.get(rule) ?? rule));
    return (
        <p class="funnel">
            {ranked.filtered > 0
                ? m.best.funnelFiltered(
                      format.count(ranked.candidates),
                      format.count(ranked.legal),
                      format.count(ranked.filtered),
                      format.count(ranked.ranked),
                  )
                : m.best.funnel(format.count(ranked.candidates), format.count(ranked.legal), format.count(ranked.ranked))}{' '}
            {others.length > 0 && `${m.heat.rejected}: ${others.join(', ')}.`}
        </p>
    );
}

export function Best({ page, act }: { page: Page; act: Actions }) {
    const { ranking, catalog, answer, problems } = page;
    const { ranked } = ranking;
    const shown = useMemo((): Shown => ({ catalog, answer, problems }), [catalog, answer, problems]);
    const fits = ranked && rows(ranked) > 0;
    const filtered = Object.keys(ranking.only).length > 0;
    return (
        <section id="best" class={ranking.stale ? 'plans best stale' : 'plans best'} aria-labelledby="best-title">
            <h2 id="best-title">{m.best.title}</h2>
            <Explore page={page} act={act} />
            <Progress ranking={ranking} act={act} />
            {ranked && <Finding page={page} ranked={ranked} ranking={ranking} />}
            {fits && <Scatter shown={shown} ranked={ranked} act={act} />}
            {ranked && (fits || filtered) && <ListFilters page={page} ranked={ranked} act={act} />}
            {ranked && !fits && filtered && <NothingLeft page={page} ranked={ranked} act={act} />}
            {fits && (
                <>
                    <Table key={ranked.gpus} shown={shown} ranked={ranked} act={act} />
                    <WhyNot page={page} act={act} />
                </>
            )}
            {ranked && <Funnel page={page} ranked={ranked} />}
        </section>
    );
}
