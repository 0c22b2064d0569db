// A run on unlike GPUs in words, for the page and the command line.
import type { Catalog, Pooled, PoolShare, PoolWay } from '../core/api';
import { format } from '../format/format';
import { moneyOf } from '../shared/answer-words';
import { wholePlan } from '../shared/plan-words';
import { say, sentences } from '../words/words';

const labelOf = ({ pools }: Pooled, way: PoolWay): string => {
    const { label, gpus } = pools[way.shares[0]?.pool ?? 0] ?? { label: '', gpus: 0 };
    return say('pools.gpus', { gpus, label });
};

// Where one kind alone costs less than the fastest way.
function cheaperText(answer: Pooled, { cost: most }: PoolWay): string | false {
    let cheapest: PoolWay | null = null;
    let least = most ?? 0;
    for (const way of answer.ways) if (way.cost !== null && way.cost < least) [cheapest, least] = [way, way.cost];
    if (cheapest?.way !== 'alone') return false;
    return say('pools.cheaper', {
        gpus: labelOf(answer, cheapest),
        cost: moneyOf(answer.job, least),
        other: moneyOf(answer.job, most ?? 0),
    });
}

export function sumText(answer: Pooled): string {
    const [best] = answer.ways;
    if (!best) return say('pools.none');
    const alone = answer.ways.find(({ way }) => way === 'alone');
    if (answer.pools.length === 1) return say('pools.one_kind', { gpus: labelOf(answer, best), time: best.step_seconds });
    if (best.way === 'alone') return say('pools.one_is_fastest', { gpus: labelOf(answer, best), time: best.step_seconds });
    const works = new Set(best.shares.map(({ pool }) => pool));
    const enumerate = (work: boolean): string =>
        format.enumerate(answer.pools.flatMap(({ gpus, label }, i) => (works.has(i) === work ? [say('pools.gpus', { gpus, label })] : [])));
    return sentences(
        say('pools.sum', { all: enumerate(true), way: best.way, time: best.step_seconds }),
        works.size < answer.pools.length && say('pools.unused', { gpus: enumerate(false) }),
        alone ? say('pools.alone', { gpus: labelOf(answer, alone), time: alone.step_seconds }) : say('pools.none_alone'),
        cheaperText(answer, best),
    );
}

const NONE = '–';
const wayName = (answer: Pooled, way: PoolWay): string => (way.way === 'alone' ? labelOf(answer, way) : say(`pools.way_${way.way}`));

export const wayHeads = (): string[] => (['way', 'step', 'days', 'cost', 'plan'] as const).map((key) => say(`pools.${key}`));
export const wayCells = (answer: Pooled, catalog: Catalog): string[][] =>
    answer.ways.map((way) => [
        wayName(answer, way),
        say('pools.step_time', { time: way.step_seconds }),
        way.days === null ? NONE : format.training(way.days, way.days, way.days)[0],
        way.cost === null ? NONE : moneyOf(answer.job, way.cost),
        wholePlan(catalog, way.plan, way.plan.data_parallel),
    ]);

function does({ copies, micro_batches, copies_with_one_more: more, first_stage: first, layers }: PoolShare): string {
    if (copies > 0) return say('pools.holds_copies', { copies, micro_batches, more, some: more > 0 ? 'yes' : 'no' });
    const last = first + layers.length;
    return say('pools.holds_stages', {
        first: first + 1,
        last,
        layers: format.enumerate(layers.map(String)),
        one: layers.length === 1 ? 'yes' : 'no',
    });
}

// The layers of its stages, for Megatron-LM; none where the fastest way has whole copies, or one kind alone.
export const layoutOf = ({ ways: [best] }: Pooled): string | null => (best?.way === 'stages' ? String(best.plan.layout) : null);

// What each pool does in the fastest way.
export const shareHeads = (): string[] => (['pool', 'does', 'memory', 'busy'] as const).map((key) => say(`pools.${key}`));
export function shareCells({ pools, ways: [best] }: Pooled): string[][] {
    return (best?.shares ?? []).map((share) => {
        const { label, gpus, card_bytes } = pools[share.pool] ?? { label: '', gpus: 0, card_bytes: 1 };
        return [
            say('pools.gpus', { gpus, label }),
            does(share),
            say('pools.share', { share: share.whole_bytes / card_bytes }),
            say('pools.busy_part', { part: share.busy_seconds / (best?.step_seconds ?? 1) }),
        ];
    });
}

// What the numbers rest on.
export const basisText = ({ job }: Pooled): string =>
    sentences(job.price_per_gpu_hour !== 'auto' && say('pools.one_price'), say('pools.basis'));
