// What a page of the catalogue says of a model on a GPU: asked of the core as any program would, when the pages are built.
import type { Catalog, Estimate, FewestGpus, Fourfold, Limits, Refusal } from '../core/api';
import { defaults, figures, type Job, request } from '../state/state';

const COUNTS = [64, 256, 1024];
const TOKENS_PER_PARAMETER = 20; // Hoffmann et al. (2022), https://arxiv.org/abs/2203.15556

export interface CatalogueRun {
    model: Catalog['models'][number];
    gpu: Catalog['gpus'][number];
    job: Job; // of the whole page, without a number of GPUs
    tokens: number;
    fewest: FewestGpus | null; // null: no plan fits, however many there are
    estimates: { gpus: number; answer: Estimate }[]; // those that some plan can use
}

function ask<Answer extends { ok: true }>(text: string): Answer {
    const answer = JSON.parse(text) as Answer | Refusal;
    if (!answer.ok) throw new Error(`the catalogue’s own run is refused: ${JSON.stringify(answer.problems)}`);
    return answer;
}

export function runOf(core: Fourfold, catalog: Catalog, model: CatalogueRun['model'], gpu: CatalogueRun['gpu']): CatalogueRun {
    const { sequence_length: usual, ...initial } = defaults(catalog);
    const tokens = TOKENS_PER_PARAMETER * model.parameters;
    const sequence_length = Math.min(Number(usual), model.max_position_embeddings);
    const job: Job = { ...initial, model: model.id, gpu: gpu.id, sequence_length, token_budget: tokens };
    const { fewest_gpus: fewest } = ask<Limits>(core.limits(JSON.stringify(request(job))));
    const counts = [...new Set([...(fewest ? [fewest.gpus] : []), ...COUNTS])].sort((a, b) => a - b);
    const estimates = counts.flatMap((gpus) => {
        const answer = JSON.parse(core.estimate(JSON.stringify(figures({ ...job, gpus })))) as Estimate | Refusal;
        return answer.ok ? [{ gpus, answer }] : [];
    });
    return { model, gpu, job, tokens, fewest, estimates };
}
