import { expect, test } from 'vitest';
import { catalog } from '../shared/test-data';
import { readArguments } from './arguments';
import { isBooleanField } from './job';

const read = (line: string) => {
    const { words, flags, given } = readArguments(line.split(' '), (key) => isBooleanField(key, catalog));
    return { words, flags: [...flags], given: given.map(({ option, key, text }) => [option, key, text]) };
};

test('commands, files, flags and options', () => {
    expect(read('fit job.json --tensor-parallel 8 --json')).toEqual({
        words: ['fit', 'job.json'],
        flags: ['json'],
        given: [['--tensor-parallel', 'tensor_parallel', '8']],
    });
    expect(read('fit --tensor_parallel=8 -')).toEqual({
        words: ['fit', '-'],
        flags: [],
        given: [['--tensor_parallel', 'tensor_parallel', '8']],
    });
    expect(read('best -h')).toEqual({ words: ['best'], flags: ['help'], given: [] });
});

test('a negative number is a value, the next option is none', () => {
    expect(read('--memory-extra -2').given).toEqual([['--memory-extra', 'memory_extra', '-2']]);
    expect(read('--gpus --json')).toEqual({ words: [], flags: ['json'], given: [['--gpus', 'gpus', null]] });
    expect(read('--gpus').given).toEqual([['--gpus', 'gpus', null]]);
});

test('an option of yes or no may stand alone', () => {
    expect(read('fit --sequence-parallel job.json')).toEqual({
        words: ['fit', 'job.json'],
        flags: [],
        given: [['--sequence-parallel', 'sequence_parallel', 'true']],
    });
    expect(read('--sp false').given).toEqual([['--sp', 'sp', 'false']]);
});

test('behind -- nothing is an option', () => {
    expect(read('fit -- --json').words).toEqual(['fit', '--json']);
});

test('a layout and a token have their own signs of equality', () => {
    expect(read('--layout=Et*4|t*4L=x').given).toEqual([['--layout', 'layout', 'Et*4|t*4L=x']]);
});
