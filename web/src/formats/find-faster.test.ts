import { expect, test, vi } from 'vitest';
import type { ConfigFormatRow, ImportedKey, ImportFormat, JobRequest, Text } from '../core/api';
import { catalog, goodOf, refusalOf } from '../shared/test-data';
import { type Asks, findFaster, type Start } from './find-faster';

const estimate = goodOf('estimate', 'llama-70b-64-h100');
const ranked = goodOf('rank', 'rank-70b');
const exported = goodOf('export_plan', 'export-deepspeed');
const job = {
    ...estimate.job,
    model: 'llama-3.1-70b',
    gpu: 'h100-sxm-80gb',
    gpus: 64,
    tensor_parallel: 8,
    pipeline_parallel: 1,
} as JobRequest;
const fastest = ranked.plans.step_seconds?.[0] ?? 0;

const leftOut = (field: string, value: number): Text => ({
    id: 'export.left_out.number',
    args: { field: { id: `field.${field}` }, value },
});
const always = leftOut('gpus', 64);
const pipeline = leftOut('pipeline_parallel', 4);

interface Says {
    own?: number; // step time of the run
    plans?: (job: JobRequest) => number; // step time of the fastest plan
    lacks?: (job: JobRequest) => Text[];
}

// A core that knows three things of a plan: how fast it is, how it is written, what its format lacks.
function asking({ own = 2 * fastest, plans = () => fastest, lacks = () => [] }: Says) {
    const asks = {
        estimate: vi.fn(async (of: JobRequest) => ({ ...estimate, job: { ...estimate.job, ...of }, step_seconds: of === job ? own : 0 })),
        rank: vi.fn(async (of: JobRequest) => {
            const step_seconds = (ranked.plans.step_seconds ?? []).map((seconds) => (seconds * plans(of)) / fastest);
            return { ...ranked, plans: { ...ranked.plans, step_seconds } };
        }),
        exportPlan: vi.fn(async (of: JobRequest) => ({
            ...exported,
            text: `pp: ${of.pipeline_parallel}\n`,
            left_out: [always, ...lacks(of)],
        })),
    };
    return { asks: asks as unknown as Asks, ...asks };
}
const isOwn = (of: JobRequest): boolean => of.pipeline_parallel === 1;
const keyOf = (key: string, value: string): ImportedKey => ({ key, value, line: 1, fate: 'used', fields: [], names: [] });
const startOf = (format: ImportFormat, keys: ImportedKey[]): Start => ({
    format,
    keys,
    job: job as Start['job'],
    partial: false,
    answered: [],
});
const find = (asks: Asks, format: ImportFormat = 'deepspeed') => findFaster(job, startOf(format, [keyOf('pp', '1')]), catalog, asks);

test('clearly faster: the plan, and both plans written in the format of the run', async () => {
    const { asks, rank, exportPlan } = asking({});
    const { best, changes, format, left_out, said } = await find(asks);
    expect(best?.step_seconds).toBe(fastest);
    expect([format?.id, left_out, said]).toEqual(['deepspeed', [], null]);
    expect(changes).toBe(`- pp: 1\n+ pp: ${ranked.plans.pipeline_parallel?.[0]}`);
    expect(rank.mock.calls[0]?.[0]).toMatchObject({ gpus: 64, tensor_parallel: 'auto', pipeline_parallel: 'auto', only: {} });
    expect(exportPlan.mock.calls.map(([of]) => (of as { format?: string }).format)).toEqual(['deepspeed', 'deepspeed']);
});

test('what a format’s programs never split stays whole: torchtune’s have no pipelines, and for adapters FSDP alone', async () => {
    for (const [trained, tensor] of [
        ['lora', 1],
        ['all', 'auto'],
    ] as const) {
        const { asks, rank } = asking({});
        await findFaster({ ...job, trained }, startOf('torchtune', []), catalog, asks);
        expect(rank.mock.calls[0]?.[0]).toMatchObject({ pipeline_parallel: 1, tensor_parallel: tensor, micro_batch: 'auto' });
    }
});

test('what is at risk is told the fastest plan that fits, though it may be slower', async () => {
    const { asks } = asking({ own: fastest / 2 });
    const risky: Asks['estimate'] = async (of) =>
        ({ ...(await asks.estimate(of)), class: 'at_risk' }) as Awaited<ReturnType<Asks['estimate']>>;
    expect((await find({ ...asks, estimate: risky })).best?.step_seconds).toBe(fastest);
    expect((await find(asks)).best).toBe(null);
});

test('within what the estimate can tell nothing is faster, and nothing is written', async () => {
    const { asks, exportPlan } = asking({ own: fastest * (1 + ranked.tie_width / 2) });
    expect(await find(asks)).toMatchObject({ best: null, changes: '', problems: [] });
    expect(exportPlan).not.toHaveBeenCalled();
});

test('what the format cannot say stays as the run has it, and the fastest of those plans is said beside it', async () => {
    const slower = 1.5 * fastest;
    const { asks, rank } = asking({
        plans: (of) => (isOwn(of) ? slower : fastest),
        lacks: (of) => (isOwn(of) ? [] : [pipeline]),
    });
    const { best, left_out, said, changes } = await find(asks);
    // the plan of the search says its own pipeline, so what is kept shows in what is asked
    expect(rank.mock.calls[1]?.[0]).toMatchObject({ tensor_parallel: 'auto', pipeline_parallel: 1 });
    expect(best?.step_seconds).toBe(fastest);
    expect(left_out).toEqual([pipeline]);
    expect(said).toBe(null); // here the search still answers with another pipeline
    expect(changes).toBe(''); // what the format writes of a plan that it cannot say is another plan
});

test('of equally fast plans one that the format can say is told', async () => {
    let asked = 0;
    const { asks } = asking({
        plans: () => fastest * (1 + (ranked.tie_width / 2) * asked),
        lacks: (of) => {
            if (isOwn(of)) return [];
            asked += 1;
            return asked === 1 ? [pipeline] : [];
        },
    });
    const { best, said, left_out } = await find(asks);
    expect(best?.step_seconds).toBeCloseTo(fastest * (1 + ranked.tie_width / 2), 9);
    expect([said, left_out]).toEqual([null, []]);
});

test('a slower one that it can say stands beside the fastest', async () => {
    let asked = 0;
    const { asks } = asking({
        plans: () => fastest * (1 + 0.5 * asked),
        lacks: (of) => {
            if (isOwn(of)) return [];
            asked += 1;
            return asked === 1 ? [pipeline] : [];
        },
    });
    const { best, said, left_out } = await find(asks);
    expect(best?.step_seconds).toBeCloseTo(fastest, 9);
    expect(said?.step_seconds).toBeCloseTo(1.5 * fastest, 9);
    expect(left_out).toEqual([pipeline]);
});

test('a format that is read and not written has no changes', async () => {
    const { asks, exportPlan } = asking({});
    expect(await find(asks, 'axolotl')).toMatchObject({ format: null, changes: '', left_out: [] });
    expect(exportPlan).not.toHaveBeenCalled();
});

test('a run that cannot be says why, and which plan can', async () => {
    const refused = refusalOf('broken-rules');
    const { asks } = asking({});
    const found = await find({ ...asks, estimate: (async () => refused) as unknown as Asks['estimate'] });
    expect([found.own, found.problems, found.changes]).toEqual([null, refused.problems, '']);
    expect(found.best?.step_seconds).toBe(fastest);
});

test('every format that is written is one that is read, or the same for Slurm', () => {
    const read: readonly ImportFormat[] = ['megatron-lm', 'megatron-bridge', 'nemo-2', 'torchtitan', 'nanotron', 'deepspeed', 'accelerate'];
    const written = catalog.config_formats.filter(({ slurm_of }: ConfigFormatRow) => slurm_of === null).map(({ id }) => id);
    expect([...written].sort()).toEqual([...read].sort());
});

test('flags that say what changes, and that no written file has, are taken out; the batch that follows from the copies is said', async () => {
    const { asks, exportPlan } = asking({});
    const text = (of: JobRequest) => `--pipeline-model-parallel-size ${of.pipeline_parallel}\n--global-batch-size 16\n`;
    exportPlan.mockImplementation(async (of: JobRequest) => ({ ...exported, text: text(of), left_out: [] }));
    const stages = keyOf('--pipeline-model-parallel-size', '1');
    const alias = { ...keyOf('--recompute-activations', 'true'), fields: ['recompute'] };
    const other = { ...keyOf('--num-layers', '80'), fields: ['model'] };
    const changes = async (recompute: string, copies: number, keys: ImportedKey[]) => {
        const mine: Asks['estimate'] = async (of) => {
            const answer = { ...estimate, job: { ...estimate.job, ...of }, step_seconds: 2 * fastest };
            return (of === job ? { ...answer, job: { ...answer.job, recompute }, data_parallel: copies } : answer) as never;
        };
        const start = startOf('megatron-lm', [stages, other, ...keys]);
        return (await findFaster(job, start, catalog, { ...asks, estimate: mine })).changes;
    };
    const moved = `- --pipeline-model-parallel-size 1\n+ --pipeline-model-parallel-size ${ranked.plans.pipeline_parallel?.[0]}`;
    const { recompute } = { ...estimate.job, recompute: String(ranked.plans.recompute?.[0]) };
    const [same, more] = [estimate.data_parallel, 2 * estimate.data_parallel];
    expect(await changes('other', same, [alias])).toBe(`${moved}\n- --recompute-activations`);
    expect(await changes(recompute, same, [alias])).toBe(moved);
    expect(await changes(recompute, more, [])).toBe(`${moved}\n+ --global-batch-size 16`);
    expect(await changes(recompute, more, [keyOf('--global-batch-size', '16')])).toBe(moved);
});

test('what says the sizes of a model of one’s own is not taken out', async () => {
    const { asks, exportPlan } = asking({});
    const text = (of: JobRequest) => `--pipeline-model-parallel-size ${of.pipeline_parallel}\n`;
    exportPlan.mockImplementation(async (of: JobRequest) => ({ ...exported, text: text(of), left_out: [] }));
    const mine: Asks['estimate'] = async (of) => {
        const model = { hidden_size: 8192 }; // another object in each answer
        return { ...estimate, job: { ...estimate.job, ...of, model }, step_seconds: of === job ? 2 * fastest : 0 } as never;
    };
    const keys = [keyOf('--pipeline-model-parallel-size', '1'), { ...keyOf('--squared-relu', 'true'), fields: ['model'] }];
    const { changes } = await findFaster(job, startOf('megatron-lm', keys), catalog, { ...asks, estimate: mine });
    expect(changes).not.toContain('--squared-relu');
});

test('of three flags that say the chunks of a GPU the change names the one that the script has', async () => {
    const megatron = (stages: number, chunks: number) =>
        `torchrun pretrain_gpt.py \\\n    --pipeline-model-parallel-size ${stages} \\\n${chunks > 1 ? `    --num-virtual-stages-per-pipeline-rank ${chunks} \\\n` : ''}    --bf16\n`;
    const key = (name: string, value: string) => keyOf(`--${name}`, value);
    const layers = key('num-layers-per-virtual-pipeline-stage', '1');
    const changes = async (from: string, to: string, keys: ImportedKey[]) => {
        const { asks, exportPlan } = asking({});
        exportPlan.mockImplementation(async (of: JobRequest) => ({ ...exported, text: isOwn(of) ? from : to, left_out: [] }));
        const said = [key('pipeline-model-parallel-size', '12'), ...keys];
        return (await findFaster(job, startOf('megatron-lm', said), catalog, asks)).changes;
    };
    const stages = '- --pipeline-model-parallel-size 12\n+ --pipeline-model-parallel-size 8\n';
    const taken = '- --num-layers-per-virtual-pipeline-stage 1\n';
    expect(await changes(megatron(12, 8), megatron(8, 3), [layers])).toBe(`${stages}${taken}+ --num-virtual-stages-per-pipeline-rank 3`);
    // as many chunks, in another pipeline: the script's number of layers is another one
    expect(await changes(megatron(12, 8), megatron(8, 8), [layers])).toBe(`${stages}${taken}+ --num-virtual-stages-per-pipeline-rank 8`);
    expect(await changes(megatron(12, 8), megatron(8, 1), [layers])).toBe(`${stages}${taken.trimEnd()}`);
    expect(await changes(megatron(12, 1), megatron(8, 1), [layers])).toBe(`${stages}${taken.trimEnd()}`); // one chunk in the one, more in the other
    expect(await changes(megatron(8, 3), `${megatron(8, 3)}    --fp16\n`, [layers])).toBe('+ --fp16');
    const own = key('num-virtual-stages-per-pipeline-rank', '8');
    expect(await changes(megatron(12, 8), megatron(8, 3), [own])).toBe(
        `${stages}- --num-virtual-stages-per-pipeline-rank 8\n+ --num-virtual-stages-per-pipeline-rank 3`,
    );
    expect(await changes(megatron(12, 8), megatron(8, 8), [own])).toBe(stages.trimEnd());
    const layout = key('pipeline-model-parallel-layout', 'Et*4|(tt|)*3L');
    const listed = megatron(12, 1).replace('    --bf16', "    --pipeline-model-parallel-layout 'Et*4|t*2|t*2|t*2|L' \\\n    --bf16");
    expect(await changes(listed, megatron(8, 3), [layout])).toBe(
        `${stages}- --pipeline-model-parallel-layout 'Et*4|(tt|)*3L'\n+ --num-virtual-stages-per-pipeline-rank 3`,
    );
    expect(await changes(megatron(12, 1), megatron(8, 1), [])).toBe(stages.trimEnd());
    // of two that Megatron-LM refuses together a plan has one
    const shared: ImportedKey = { ...key('moe-shared-expert-overlap', 'true'), fate: 'no_number' };
    const overlapped = `${megatron(8, 1)}    --overlap-moe-expert-parallel-comm\n`;
    const added = '+ --overlap-moe-expert-parallel-comm';
    expect(await changes(megatron(8, 1), overlapped, [shared])).toBe(`- --moe-shared-expert-overlap\n${added}`);
    expect(await changes(megatron(8, 1), overlapped, [])).toBe(added);
    expect(await changes(overlapped, overlapped, [shared])).toBe('');
});

// A recipe that says its stages alone; the core reads what is written, key by key.
const OF_KEYS: { [key: string]: string } = { pp: 'pipeline_parallel', tp: 'tensor_parallel', rc: 'recompute', drop: 'hidden_dropout' };
function recipe(said: Partial<JobRequest>, plans: number) {
    const run = { ...job, tensor_parallel: 'auto', recompute: 'auto', ...said } as JobRequest;
    const { asks, exportPlan } = asking({ plans: () => plans });
    const estimated: Asks['estimate'] = async (of) => ({ ...estimate, job: { ...estimate.job, ...of }, step_seconds: fastest }) as never;
    exportPlan.mockImplementation(async (of: JobRequest) => ({
        ...exported,
        text: `pp=${of.pipeline_parallel}\ntp=2\nrc=null\ndrop=0.0\n`,
        left_out: [],
    }));
    const keys = Object.entries(OF_KEYS).map(([key, field]) => ({ ...keyOf(key, ''), fields: [field] }));
    const importPlan = async () => ({ ok: true, jobs: [{ keys }] }) as never;
    const { tensor_parallel: _, recompute: __, ...rest } = job as Start['job'];
    const start = { ...startOf('megatron-bridge', [keyOf('pp', '1')]), job: { ...rest, ...said } as Start['job'], partial: true };
    return findFaster(run, start, catalog, { ...asks, estimate: estimated, importPlan });
}

test('what a recipe does not say is no plan of its own: all of the other plan that is searched is said, though both files have it', async () => {
    const stages = ranked.plans.pipeline_parallel?.[0];
    const open = await recipe({}, fastest / 4);
    expect([open.chose, open.changes]).toEqual(['split', `- pp=1\n+ pp=${stages}\n+ tp=2\n+ rc=null`]);
    const part = await recipe({ tensor_parallel: 8 }, fastest / 4);
    expect([part.chose, part.changes]).toEqual(['recompute', `- pp=1\n+ pp=${stages}\n+ rc=null`]);
});

test('a plan that was chosen is not compared with itself: what the recipe must say to have it', async () => {
    const found = await recipe({}, 4 * fastest);
    expect([found.best, found.chose, found.changes]).toEqual([null, 'split', '+ tp=2\n+ rc=null']);
    const said = await recipe({ tensor_parallel: 8, recompute: 'none' }, 4 * fastest);
    expect([said.best, said.chose, said.changes]).toEqual([null, null, '']);
});

test('an answer is no line of the text: it is said, and not taken out', async () => {
    const { asks } = asking({ plans: () => fastest / 4 });
    const keys = [{ ...keyOf('pp', '1'), line: 0, fields: ['pipeline_parallel'] }];
    const start = { ...startOf('deepspeed', keys), answered: ['pipeline_parallel'] };
    const importPlan = async () => ({ ok: true, jobs: [{ keys }] }) as never;
    const { changes } = await findFaster(job, start, catalog, { ...asks, importPlan });
    expect(changes).toBe(`+ pp: ${ranked.plans.pipeline_parallel?.[0]}`);
});
