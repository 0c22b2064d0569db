// What readers ask first: the page's own example, and what links ask. A build runs these once to see which functions they need: those make the
// first file of the module (split.mjs), and whatever else is asked waits for the second one: how numbers come about, and what is wrong with a request.
const COUNTS = [8, 64, 512, 2048];

// Calls `ask(request)` with each. `catalog`: what the module says of itself.
export function firstAsked({ models, gpus: cards, fields }, ask) {
    const written = Object.fromEntries(fields.map(({ key, default: value }) => [key, value])); // as a page asks, which says every field
    const figures = (request) => ask({ explain: false, ...request });
    const both = (own) => [{ version: 2, ...own }, { version: 2, cluster: '', method: 'detailed', ...written, ...own }].forEach(figures);
    both({ model: 'llama-3.1-8b', gpu: 'h100-sxm-80gb' });
    const job = (model, gpu, gpus) => ({ model: model.id, gpu: gpu.id, gpus, sequence_length: Math.min(8192, model.max_position_embeddings ?? 8192) });
    models.forEach((model, i) => {
        for (const gpus of COUNTS) both({ ...job(model, cards[(3 * i + gpus) % cards.length], gpus), global_batch: Math.max(1024, gpus) });
    });
    cards.forEach((gpu, i) => both(job(models[i % models.length], gpu, 64)));
    const usual = { model: 'llama-3.1-70b', gpus: 64, gpu: 'h100-sxm-80gb' };
    for (const own of [
        { precision: 'fp8' }, { recompute: 'none' }, { recompute: 'full' }, { tensor_parallel: 8 }, { pipeline_parallel: 4, virtual_stages: 2 }, { micro_batch: 1 },
        { context_parallel: 2 }, { zero: 'weights', framework: 'pytorch' }, { global_batch: 256, sequence_length: 131_072 }, { token_budget: 15e12, price_per_gpu_hour: 2.5 },
        { tensor_parallel: 4, context_parallel: 1, pipeline_parallel: 4, micro_batch: 1, schedule: '1f1b', recompute: 'none', zero: 'optimizer' },
    ])
        both({ ...usual, ...own });
    for (const gpus of COUNTS) figures({ version: 1, ...usual, gpus }); // of old links
}
