// A plan in words: its degrees, what it sets beside them, and what the search leaves out.
import type { Catalog, Change, Degree, Json, SetField } from '../core/api';
import type { RankedKey } from '../core/types';
import { layerRuns, parseLayout } from '../state/layout';
import { DEGREES, LEAVE_OUT } from '../state/state';
import type { Page } from '../store/page';
import { listed, say, tell } from '../words/words';
import { choiceLabel, chosenNames, chosenOf, lower } from './names';

type Plan = { readonly [key in RankedKey]?: Json };

// "tensor 2 · pipeline 1 · …" from any object that has the four degrees, with the derived one where it is known.
export function degreeList(plan: { [key in Degree | 'tensor_columns' | 'expert_parallel']?: Json }, data?: number): string {
    const degree = (key: Degree | 'tensor_columns' | 'expert_parallel' | 'data_parallel', value: number): string =>
        say('plan.degree', { name: say(`degree.short.${key}`), value });
    const parts = DEGREES.map((key) => degree(key, Number(plan[key])));
    if (data !== undefined) parts.splice(-1, 0, degree('data_parallel', data));
    const columns = Number(plan.tensor_columns ?? 1);
    if (columns > 1) parts.splice(1, 0, degree('tensor_columns', columns));
    const experts = Number(plan.expert_parallel ?? 1);
    if (experts > 1) parts.push(degree('expert_parallel', experts));
    return parts.join(' · ');
}

const MOST_RUNS = 5;

// "layers 7 | 14 × 8 | 7"
export function layersText(layout: string, most = MOST_RUNS): string {
    const chunks = parseLayout(layout);
    if (!chunks) return layout === 'front' ? say('plan.front') : say('plan.uneven');
    const runs = layerRuns(chunks);
    if (runs.length > most) return say('plan.uneven');
    return say('plan.layers', { runs: runs.map((run) => say('plan.run', { ...run, several: run.count > 1 })).join(' | ') });
}

function recomputeText(catalog: Catalog, { recompute, recompute_modules, recompute_layers }: Plan): string {
    const kind = String(recompute);
    if (kind === 'block') return say('plan.block', { count: Number(recompute_layers) });
    const known: Record<string, () => string> = {
        none: () => say('plan.kept'),
        selective: () =>
            say('plan.selective', { modules: chosenNames(catalog, 'recompute_modules', String(recompute_modules)).map(lower) }),
        full: () => say('plan.full'),
        operations: () => say('plan.operations'),
    };
    return known[kind]?.() ?? '';
}

// As far as it is not the plainest: what plans were before there was a choice.
export function besides(catalog: Catalog, plan: Plan): string {
    const plainest = new Map(catalog.fields.map((field) => [field.key, field.default_1 ?? field.default]));
    const differs = (key: RankedKey): boolean => plan[key] !== undefined && plan[key] !== plainest.get(key);
    const [chunks, expertTensor] = [Number(plan.virtual_stages ?? 1), Number(plan.expert_tensor_parallel ?? 1)];
    return listed([
        differs('schedule') && choiceLabel(catalog, 'schedule', String(plan.schedule)),
        plan.schedule === '1f1b' && chunks > 1 && say('plan.chunks', { count: chunks }),
        differs('layout') && layersText(String(plan.layout)),
        differs('recompute') && recomputeText(catalog, plan),
        differs('activation_offload') && say('plan.on_host', { share: Number(plan.activation_offload) }),
        differs('token_slices') && say('plan.slices', { count: Number(plan.token_slices) }),
        differs('zero') && say('plan.zero', { kind: String(plan.zero) }),
        Number(plan.shard_replicas) > 1 && say('plan.copies', { count: Number(plan.shard_replicas) }),
        differs('moments') && choiceLabel(catalog, 'moments', String(plan.moments)),
        plan.sequence_parallel === false && Number(plan.tensor_parallel) > 1 && say('plan.no_sequence'),
        plan.sync_each_micro_batch === 'on' && lower(tell({ id: 'change.sync_each_micro_batch', args: {} })),
        plan.expert_overlap === true && say('plan.expert_overlap'),
        expertTensor > 1 && say('plan.expert_tensor', { gpus: expertTensor }),
    ]);
}

export const wholePlan = (catalog: Catalog, plan: Plan, data?: number): string => listed([degreeList(plan, data), besides(catalog, plan)]);

// Where a change makes the search choose another plan than the one shown: which.
export const newPlan = (catalog: Catalog, { plan }: Change): string =>
    plan ? say('changes.plan', { plan: wholePlan(catalog, plan, plan.data_parallel) }) : '';

// Why there are no plans yet.
export const plansComing = ({ problems }: Page): string => (problems.length > 0 ? say('map.not_yet') : say('map.loading'));

// What the job's framework has of what a search may leave out.
export function mayLeaveOut({ catalog, job }: Page): SetField['choices'] {
    const field = catalog.fields.find(({ key }) => key === LEAVE_OUT);
    return field?.type === 'set' ? field.choices.filter(({ framework = job.framework }) => framework === job.framework) : [];
}

// What the search leaves out, in the words of the catalogue.
export function leftOut(page: Page, more = ''): { id: string; name: string }[] {
    const may = mayLeaveOut(page).map(({ id }) => id);
    return chosenOf(page.catalog, LEAVE_OUT, `${page.job[LEAVE_OUT]},${more}`).filter(({ id }) => may.includes(id));
}

// What no search tries with the framework, where the reader sets none of it.
function untried({ catalog, job }: Page): string {
    const field = catalog.fields.find(({ key }) => key === 'framework');
    const choices = field?.type === 'choice' && job.zero === 'auto' ? field.choices : [];
    return choices.find(({ id }) => id === job.framework)?.untried ?? '';
}

export const leftOutText = (page: Page): string => {
    const names = leftOut(page, untried(page)).map(({ name }) => lower(name));
    return names.length > 0 ? say('search.left_out', { what: names }) : say('search.nothing_left_out');
};
