import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { OnlyKey, Ranked, RankedPlan, Versus } from '../core/api';
import { RANKED_KEYS, type RankedKey } from '../core/types';
import { format } from '../format/format';
import { percentTenth } from '../format/tenths';
import { labelOf } from '../shared/names';
import { besides, plansComing, wholePlan } from '../shared/plan-words';
import { Room } from '../shared/room';
import { settled } from '../shared/settled';
import { SortHead } from '../shared/sort';
import { stepText } from '../shared/step-text';
import { defaults } from '../state/state';
import type { Actions, Page } from '../store/page';
import { planAt, type Ranking, rows } from '../store/ranked';
import { listed, say, sentences } from '../words/words';
import { ListFilters, NothingLeft } from './filters';
import { LeftOut } from './left-out';
import { folded, IN_RANK, inOrder, type ListRow, type SortKey, withFilter } from './list';
import { rejectedText } from './rejected';
import { Scatter } from './scatter';
import type { Shown } from './shown';
import { isShown, takeRanked } from './shown';
import { differencesOf, WhyNot } from './why-not';

// The fastest plans on the job's own number of GPUs, of everything that was tried.
const KEYS = ['tensor_parallel', 'pipeline_parallel', 'context_parallel', 'micro_batch'] as const;
const FIRST_ROWS = 20;
const COLUMNS = KEYS.length + 6;

const besidesOf = ({ catalog }: Shown, plan: RankedPlan): string =>
    listed([
        besides(catalog, plan),
        Number(plan.expert_parallel) > 1 &&
            say('plan.degree', { name: say('degree.short.expert_parallel'), value: Number(plan.expert_parallel) }),
    ]);

interface TableProps {
    shown: Shown;
    ranked: Ranked;
    act: Actions;
}

interface RowProps {
    shown: Shown;
    plan: RankedPlan;
    rank: number;
    gpus: number;
    act: Actions;
}

function Row({ shown, plan, rank, gpus, act }: RowProps) {
    const current = isShown(shown, plan, gpus);
    const take = () => takeRanked(act, shown.catalog, plan);
    const more = besidesOf(shown, plan);
    return (
        <tr class={current ? 'now' : undefined} onClick={take}>
            <th scope="row">
                <button
                    type="button"
                    class="link"
                    aria-pressed={current}
                    aria-label={say('best.take', { rank: rank, plan: wholePlan(shown.catalog, plan) })}
                    onClick={(event) => {
                        event.stopPropagation();
                        take();
                    }}
                >
                    {format.count(rank)}
                </button>{' '}
                <small>{current && say('best.current')}</small>
                {more && <small class="brief">{more}</small>}
            </th>
            {KEYS.map((key) => (
                <td key={key} class="r">
                    {format.count(Number(plan[key]))}
                </td>
            ))}
            <td class="r extra">{format.count(plan.data_parallel)}</td>
            <td class="besides extra">{more || '–'}</td>
            <td class="r">{stepText(plan.step_seconds)}</td>
            <td class="r extra">{format.rounded(plan.tokens_per_s)}</td>
            <td class="r">{format.gb(plan.whole_bytes)}</td>
        </tr>
    );
}

interface FoldProps {
    shown: Shown;
    fold: readonly ListRow[];
    gpus: number;
    last: boolean; // of those that are equally fast
    act: Actions;
}

// A row, and those that it stands for: shown when asked for, or where the plan above is among them.
function Fold({ shown, fold: [first, ...others], gpus, last, act }: FoldProps) {
    const [asked, ask] = useState<boolean | null>(null);
    const open = asked ?? others.some(({ plan }) => isShown(shown, plan, gpus));
    const row = ({ plan, rank }: ListRow) => <Row key={rank} shown={shown} plan={plan} rank={rank} gpus={gpus} act={act} />;
    return (
        <tbody class={last ? 'tie-end' : undefined}>
            {first && row(first)}
            {others.length > 0 && (
                <tr class="alike" onClick={() => ask(!open)}>
                    <td colSpan={COLUMNS}>
                        <button type="button" class="link" aria-expanded={open}>
                            {say('best.alike', { count: others.length })}
                        </button>
                    </td>
                </tr>
            )}
            {open && others.map(row)}
        </tbody>
    );
}

const Table = settled(({ shown, ranked, act }: TableProps) => {
    const [sorting, sort] = useState(IN_RANK);
    const [length, lengthen] = useState(FIRST_ROWS);
    const count = rows(ranked);
    const folds = folded(
        inOrder(
            Array.from({ length: count }, (_, i) => ({ plan: planAt(ranked, i), rank: i + 1 })),
            sorting,
        ),
    );
    const head = (by: SortKey, label: ComponentChildren, { name, kind }: { name?: string; kind?: string } = {}) => (
        <SortHead key={by} by={by} sorting={sorting} sort={sort} name={name} sign={by === 'rank'} {...(kind !== undefined && { kind })}>
            {label}
        </SortHead>
    );
    const rest = folds.length - length;
    const save = async () => (await import('./save-list')).saveList(shown.catalog, ranked);
    const ties = ranked.equally_good;
    const isTied = (fold?: readonly ListRow[]): boolean => fold?.[0] !== undefined && fold[0].rank <= ties;
    const tied = sorting.by === 'rank' && !sorting.down && ties > 1 && ties < count;
    return (
        <>
            {ranked.ranked > count && <p class="note">{say('best.part', { ranked: ranked.ranked, rows: count })}</p>}
            <p class="note">
                {sentences(ties > 1 && say('best.tied', { count: ties }), say('best.order', { width: percentTenth(ranked.tie_width) }))}
            </p>
            <table class="ranking" aria-label={say('best.table')}>
                <thead>
                    <tr>
                        {head('rank', say('best.rank'), { name: say('best.rank_name'), kind: '' })}
                        {KEYS.map((key) =>
                            head(
                                key,
                                <>
                                    <span class="long">{say(`degree.short.${key}`)}</span>
                                    <span class="brief">{say(`degree.letter.${key}`)}</span>
                                </>,
                                { name: labelOf(shown.catalog.fields, key) },
                            ),
                        )}
                        {head('data_parallel', say('degree.short.data_parallel'), { kind: 'r extra' })}
                        <th scope="col" class="besides extra">
                            {say('best.besides')}
                        </th>
                        {head('step_seconds', say('best.time'))}
                        {head('tokens_per_s', say('best.speed'), { kind: 'r extra' })}
                        {head('whole_bytes', say('best.memory'))}
                    </tr>
                </thead>
                {folds.slice(0, length).map((fold, i) => (
                    <Fold
                        key={fold[0]?.rank}
                        shown={shown}
                        fold={fold}
                        gpus={ranked.gpus}
                        last={tied && isTied(fold) && !isTied(folds[i + 1])}
                        act={act}
                    />
                ))}
            </table>
            <p class="acts">
                {rest > 0 && (
                    <button type="button" onClick={() => lengthen(length + FIRST_ROWS)}>
                        {say('best.more', { count: Math.min(rest, FIRST_ROWS) })}
                    </button>
                )}
                <button type="button" onClick={save}>
                    {say('best.csv')}
                </button>
            </p>
        </>
    );
});

// Why the next plan comes later, from the core's comparison of the two. null: the core does not call it slower.
function leadOf({ catalog, answer }: Page, { outcome, plan, other, seconds = 0, seconds_share = 0, time = [] }: Versus): string | null {
    if (outcome !== 'slower' || !other.ok) return null;
    const reasons = differencesOf(time);
    const later = { plan: wholePlan(catalog, other.job), time: seconds, share: seconds_share };
    const bytes = other.whole_bytes - plan.whole_bytes; // as the list has them
    const width = (answer?.equally_good.memory_width ?? 0) * plan.whole_bytes; // what reads 0.00 GB is none, either
    const compared = Math.abs(bytes) < Math.max(2 ** 30 / 200, width) ? 'same' : bytes > 0 ? 'more' : 'less';
    return sentences(
        reasons ? say('best.lead_because', { ...later, reasons }) : say('best.lead', later),
        say('best.lead_memory', { compared, size: Math.abs(bytes) }),
    );
}

function Finding({ page, ranked, ranking }: { page: Page; ranked: Ranked; ranking: Ranking }) {
    const filtered = Object.keys(ranking.only).length > 0;
    if (rows(ranked) === 0) {
        const { closest } = ranked;
        return (
            <p class="finding">
                {sentences(
                    say('best.none', { filtered, gpus: ranked.gpus }),
                    closest &&
                        say('best.closest', {
                            plan: wholePlan(page.catalog, closest),
                            memory: closest.whole_bytes,
                        }),
                )}
            </p>
        );
    }
    const first = planAt(ranked, 0);
    return (
        <p class="finding">
            {say('best.finding', { filtered, plan: wholePlan(page.catalog, first), time: first.step_seconds })}{' '}
            <span>
                {sentences(
                    ranked.equally_good > 1 && say('best.tie', { count: ranked.equally_good }),
                    ranking.lead && leadOf(page, ranking.lead),
                    rows(ranked) === 1 && say('best.only_one', { filtered }),
                )}
            </span>
        </p>
    );
}

function Funnel({ page, ranked }: { page: Page; ranked: Ranked }) {
    const parts = [
        ranked.slower > 0 && say('best.too_slow', { count: ranked.slower }),
        ranked.filtered > 0 && say('best.filtered', { count: ranked.filtered }),
        ranked.does_not_fit > 0 && say('best.do_not_fit', { count: ranked.does_not_fit }),
        say('best.fit', { count: ranked.ranked }),
    ].filter((part) => part !== false);
    return (
        <p class="funnel">
            {sentences(
                say('best.funnel', { all: ranked.candidates, legal: ranked.legal, parts }),
                rejectedText(page.catalog, ranked.rejected),
            )}
        </p>
    );
}

// What the reader has set of the plan: the list is wider than that, until it is filtered by it.
function Opened({ page, ranked, act }: { page: Page; ranked: Ranked; act: Actions }) {
    const usual = defaults(page.catalog);
    const keys = RANKED_KEYS.filter((key) => ![undefined, 'auto', usual[key]].includes(page.job[key]));
    if (keys.length === 0 || keys.length === RANKED_KEYS.length) return null;
    const useful = keys.filter((key): key is Extract<RankedKey, OnlyKey> => key in ranked.choices);
    const only = () => {
        const filters = useful.map((key) => withFilter({}, {}, key, page.job[key] ?? ''));
        act.filter(Object.assign({}, ...filters.map(([degrees]) => degrees)), Object.assign({}, ...filters.map(([, list]) => list)));
    };
    return (
        <p class="note">
            {say('best.opened')}{' '}
            {useful.length > 0 && (
                <button type="button" class="link" onClick={only}>
                    {say('best.only_set')}
                </button>
            )}
        </p>
    );
}

export function Best({ page, act }: { page: Page; act: Actions }) {
    const { ranking, catalog, answer, problems } = page;
    const { ranked } = ranking;
    const shown = useMemo((): Shown => ({ catalog, answer, problems }), [catalog, answer, problems]);
    const fits = ranked && rows(ranked) > 0;
    const filtered = Object.keys(ranking.only).length > 0;
    const stale = ranking.stale && ranking.problems.length === 0; // a filter that is none changes nothing
    return (
        <Room id="best" class={stale ? 'plans best stale' : 'plans best'} title={say('section.best')}>
            {stale && <p class="note">{say('map.stale')}</p>}
            {!ranked && <p class="note">{plansComing(page)}</p>}
            {ranked && <Finding page={page} ranked={ranked} ranking={ranking} />}
            {ranked && <Opened page={page} ranked={ranked} act={act} />}
            <LeftOut page={page} act={act} />
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
        </Room>
    );
}
