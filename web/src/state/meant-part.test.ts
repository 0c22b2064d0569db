import { expect, test } from 'vitest';
import { catalog } from '../shared/test-data';
import { meantPart, mendedLink, saidParts } from './meant-part';

test.each([
    ['framework', 'fw'],
    ['Framework', 'fw'],
    ['seq_len', 'seq'],
    ['seqlen', 'seq'],
    ['sequence_length', 'seq'],
    ['sequenceLength', 'seq'],
    ['max_seq_length', 'seq'],
    ['gpu_count', 'gpus'],
    ['num_gpus', 'gpus'],
    ['ngpus', 'gpus'],
    ['GPUS', 'gpus'],
    ['gpuss', 'gpus'],
    ['gpu_type', 'gpu'],
    ['nodes', 'gpus'],
    ['world_size', 'gpus'],
    ['model_name', 'model'],
    ['modle', 'model'],
    ['batch_size', 'batch'],
    ['global_batch_size', 'batch'],
    ['micro_batch_size', 'mb'],
    ['microbatch', 'mb'],
    ['tensor_parallel', 'tp'],
    ['tensor-model-parallel-size', 'tp'],
    ['pipeline', 'pp'],
    ['precision', 'dtype'],
    ['token', 'tokens'],
    ['recompute', 'rc'],
    ['shedule', 'sched'],
    ['optimiser', 'opt'],
])('%s was meant as %s', (name, link) => {
    expect(meantPart(name, catalog)).toBe(link);
});

test.each(['dp', 'x', 'foo', 'speed', 'colour', 'pin=model=x', ''])('%s is like none', (name) => {
    expect(meantPart(name, catalog)).toBeNull();
});

test('a notice says what was probably meant, part by part', () => {
    expect(saidParts(['framework', 'speed'], catalog)).toBe('framework (did you mean fw?), speed');
});

test.each([
    ['?model=llama-3.1-70b&tensor_parallel=3&x=1', '?model=llama-3.1-70b&tp=3&x=1'],
    ['?micro%5Fbatch%5Fsize=2&tensor_parallel=4', '?mb=2&tp=4'],
    ['?tp=2&tensor_parallel=4', undefined], // which one?
    ['?seq_len=8k&sequence_length=4096', '?seq=8k&sequence_length=4096'],
    ['?x=1', undefined],
    ['', undefined],
])('%s becomes %s', (search, mended) => {
    const unknown = [...new URLSearchParams(search).keys()].filter((name) => name !== 'model' && name !== 'tp');
    expect(mendedLink(search, unknown, catalog)).toBe(mended);
});
