import { expect, test } from 'vitest';
import { answeredOf } from '../shared/test-data';
import { show, spies, tap, textOf } from '../shared/test-view';
import { speak } from '../words/words';
import { Split, splitText } from './split';

const never = () => new Promise<never>(() => {});
const asks = { estimate: never, exportPlan: never };

test('the plan in words: only what is split is named', () => {
    const { answer } = answeredOf();
    const plan = (degrees: object, copies: number) => splitText({ ...answer, data_parallel: copies, job: { ...answer.job, ...degrees } });
    const one = { tensor_parallel: 1, pipeline_parallel: 1, context_parallel: 1, expert_parallel: 1 };
    expect(plan(one, 1)).toBe('one GPU holds the whole model');
    expect(plan({ ...one, tensor_parallel: 4 }, 2)).toBe('each layer over 4 GPUs, in 2 copies');
    expect(plan(one, 8)).toBe('8 copies of the whole model');
    expect(plan({ ...one, pipeline_parallel: 4, context_parallel: 2 }, 2)).toBe(
        'the stack of layers over 4 GPUs and each sequence over 2, in 2 copies',
    );
    expect(plan({ ...one, tensor_parallel: 4, tensor_columns: 2 }, 1)).toBe('each layer over 8 GPUs');
    expect(plan({ tensor_parallel: 8, pipeline_parallel: 16, context_parallel: 2, expert_parallel: 4 }, 1)).toBe(
        'each layer over 8 GPUs, the stack of layers over 16, and each sequence over 2; the experts of each layer over 4 of these GPUs',
    );
    expect(plan({ ...one, tensor_parallel: 2, pipeline_parallel: 8, expert_parallel: 64 }, 128)).toBe(
        'each layer over 2 GPUs and the stack of layers over 8, in 128 copies; the experts of each layer over 64 of these GPUs',
    );
    expect(plan({ ...one, expert_parallel: 8 }, 64)).toBe(
        '64 copies of all but the experts; the experts of each layer over 8 of these GPUs',
    );
});

test('sharded weights are one model, not copies of it', () => {
    const { answer } = answeredOf();
    const plan = (degrees: object, count: number) => splitText({ ...answer, data_parallel: count, job: { ...answer.job, ...degrees } });
    const sharded = {
        tensor_parallel: 1,
        pipeline_parallel: 1,
        context_parallel: 1,
        expert_parallel: 1,
        zero: 'weights',
        shard_replicas: 1,
    };
    expect(plan(sharded, 64)).toBe('one model sharded over 64 GPUs');
    expect(plan({ ...sharded, tensor_parallel: 8 }, 4)).toBe('each layer over 8 GPUs, the weights sharded over 4 such groups');
    expect(plan({ ...sharded, shard_replicas: 8 }, 64)).toBe('one model sharded over 8 GPUs, in 8 copies');
    expect(plan({ ...sharded, zero: 'gradients' }, 64)).toBe('64 copies of the whole model');
});

test('Chinese sets its clauses apart, and joins none of them as names', async () => {
    const { answer } = answeredOf();
    const job = { ...answer.job, tensor_parallel: 8, pipeline_parallel: 1, context_parallel: 1, expert_parallel: 8 };
    await speak('zh');
    const text = splitText({ ...answer, data_parallel: 1, job });
    await speak('en');
    expect(text).toMatch(/^每层.+；每层的专家.+$/);
    expect(text).not.toContain('和');
});

test('the plain depth leads to the knobs, every detail puts plans aside; both say why', async () => {
    const { page, answer } = answeredOf();
    const plain = show(<Split page={page} answer={answer} act={spies()} asks={asks} />);
    expect(plain.find('link', 'Change the plan').getAttribute('href')).toBe('#adjust');
    expect(plain.names('button')).toEqual(['Share', 'Launch flags', 'Why this plan?']);
    expect(plain.one('.plan').textContent).not.toContain('tensor 1');
    tap(plain.find('button', 'Why this plan?'));
    await expect.poll(() => textOf(plain.one('.why'))).toMatch(/^tensor 1 · .* A search compares all plans/);
    const detail = show(<Split page={{ ...page, depth: 'detail' }} answer={answer} act={spies()} asks={asks} />);
    expect(textOf(detail.one('.plan'))).toContain('tensor 1 · ');
    expect(detail.names('button')).toEqual(['Share', 'Launch flags', 'Pin this plan', 'Why this plan?']);
});
