import { expect, test } from 'vitest';
import { readLink } from './link';
import type { BootData } from './types';

const data: Pick<BootData, 'models' | 'numbers'> = {
    models: { small: 'Small 8B' },
    numbers: { gpus: 'gpus', seq: 'sequence_length' },
};
const words = {
    name: '',
    working: '',
    taken: '',
    failed: '',
    ownModel: 'Your model',
    ownGpu: 'Your own GPU…',
    unknownGpu: '%?',
    usualTokens: '',
};
const read = (query: string) => readLink(query, data, words, () => 'en');

test('the fields of a link as the page will write them', () => {
    expect(read('?v=1&model=small&gpu=h100&gpus=1024&seq=8192&tp=2')).toEqual({
        model: 'Small 8B',
        gpu: 'h100',
        gpus: '1,024',
        sequence_length: '8,192',
    });
});

test('what is not in a link stays as it is; what is not known keeps its words', () => {
    expect(read('?tp=2')).toEqual({});
    expect(read('?model=other&gpus=many')).toEqual({ model: 'other', gpus: 'many' });
});

test('a pasted model has its own name, or none', () => {
    expect(read('?model=custom&model.hidden_size=8')).toEqual({ model: 'Your model' });
    expect(read('?model=custom&model._name_or_path=%22true%22')).toEqual({ model: 'true' });
    expect(read('?model=custom&model._name_or_path=swiss-ai%2FApertus-8B-2509')).toEqual({ model: 'Apertus-8B-2509' });
});

test('a GPU of one’s own has its own name, or none', () => {
    expect(read('?gpu=custom&gpu.name=Nimbus+48&gpu.mem=48')).toEqual({ gpu: 'custom', 'gpu.name': 'Nimbus 48' });
    expect(read('?gpu=custom')).toEqual({ gpu: 'custom', 'gpu.name': 'Your own GPU…' });
});
