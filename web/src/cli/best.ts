// The fastest plans that fit, as a table.
import type { Catalog, Ranked, RankedPlan, Refusal } from '../core/api';
import { format } from '../format/format';
import { percentTenth } from '../format/tenths';
import { folded } from '../plans/list';
import { besides, wholePlan } from '../shared/plan-words';
import { rankedCsv } from '../shared/ranked-csv';
import { stepText } from '../shared/step-text';
import { planAt, rows } from '../store/ranked';
import { say, sentences } from '../words/words';
import { type Asked, complained, DOES_NOT_FIT, type Done, FITS, refused } from './asked';
import { wholeOf } from './own';
import { table } from './table';

const TOP = 10;
const MOST = 200; // as many as the core lists
const KEYS = ['tensor_parallel', 'pipeline_parallel', 'context_parallel', 'expert_parallel', 'data_parallel', 'micro_batch'] as const;

type Key = (typeof KEYS)[number];

const headOf = (keys: readonly Key[]): string[] => [
    say('best.rank'),
    ...keys.map((key) => say(`degree.short.${key}`)),
    say('best.time'),
    say('best.speed'),
    say('best.memory'),
    say('best.besides'),
];

const rowOf = (catalog: Catalog, keys: readonly Key[], plan: RankedPlan, rank: number): string[] => [
    format.count(rank),
    ...keys.map((key) => format.count(Number(plan[key]))),
    stepText(plan.step_seconds),
    format.rounded(plan.tokens_per_s),
    format.gb(plan.whole_bytes),
    besides(catalog, plan) || '–',
];

function nothingFits(ranked: Ranked, catalog: Catalog): string {
    const { closest, gpus } = ranked;
    return sentences(
        say('best.none', { filtered: false, gpus }),
        closest && say('best.closest', { plan: wholePlan(catalog, closest), memory: closest.whole_bytes }),
    );
}

function listOf(ranked: Ranked, catalog: Catalog, top: number): string {
    const first = planAt(ranked, 0);
    const folds = folded(Array.from({ length: rows(ranked) }, (_, i) => ({ plan: planAt(ranked, i), rank: i + 1 }))).slice(0, top);
    const plans = folds.flatMap((fold) => fold.slice(0, 1));
    const others = folds.flat().length - plans.length;
    const keys = KEYS.filter((key) => key !== 'expert_parallel' || plans.some(({ plan }) => Number(plan[key]) > 1));
    const all = [headOf(keys), ...plans.map(({ plan, rank }) => rowOf(catalog, keys, plan, rank))];
    const numbers = Array.from({ length: keys.length + 4 }, (_, i) => i); // all but the other settings
    const ties = ranked.equally_good;
    return [
        say('best.finding', { filtered: false, plan: wholePlan(catalog, first), time: first.step_seconds }),
        '',
        table(all, numbers),
        ...(others > 0 ? ['', say('cli.best.folded', { count: others })] : []),
        '',
        sentences(ties > 1 && say('best.tied', { count: ties }), say('best.order', { width: percentTenth(ranked.tie_width) })),
    ].join('\n');
}

export function best({ core, catalog, request, own, csv }: Asked): Done {
    const top = own.top === undefined ? TOP : wholeOf(own.top, MOST);
    if (top === null) return complained(say('cli.problem', { option: '--top', text: say('cli.whole', { most: MOST }) }));
    const text = core.rank(JSON.stringify(request));
    const ranked = JSON.parse(text) as Ranked | Refusal;
    if (!ranked.ok) return refused(text);
    const fits = rows(ranked) > 0;
    if (csv)
        return {
            status: fits ? FITS : DOES_NOT_FIT,
            answer: text,
            text: rankedCsv(catalog, ranked, own.top === undefined ? MOST : top),
            notes: [],
        };
    return {
        status: fits ? FITS : DOES_NOT_FIT,
        answer: text,
        text: fits ? listOf(ranked, catalog, top) : nothingFits(ranked, catalog),
        notes: [],
    };
}
