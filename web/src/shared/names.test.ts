import { expect, test } from 'vitest';
import { lower } from './names';

test('in a sentence a label begins small, unless it begins with a name or an abbreviation', () => {
    const labels = [
        'Micro-batch',
        'Megatron FSDP',
        'Transformer Engine',
        'Adam’s averages',
        'ZeRO / FSDP',
        'GPUs per node',
        'Activations in host memory',
    ];
    expect(labels.map(lower)).toEqual([
        'micro-batch',
        'Megatron FSDP',
        'Transformer Engine',
        'Adam’s averages',
        'ZeRO / FSDP',
        'GPUs per node',
        'activations in host memory',
    ]);
});
