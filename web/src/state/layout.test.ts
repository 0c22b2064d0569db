import { describe, expect, test } from 'vitest';
import type { Config } from '../core/api';
import { chunksOf, layerRuns, moveLayer, parseLayout, placeOf, writeLayout } from './layout';

const layers = (text: string) => parseLayout(text)?.map((chunk) => chunk.layers);

describe('the notation', () => {
    test.each([
        ['Et*7|(t*8|)*14t*7L', [7, ...Array.from({ length: 14 }, () => 8), 7]],
        ['Ett|tt|ttL', [2, 2, 2]],
        ['E|t*3|L', [0, 3, 0]],
        ['Ettt|(tt|)*29,m|L', [3, ...Array.from({ length: 29 }, () => 2), 0, 0]],
    ])('%s is read', (text, wanted) => expect(layers(text)).toEqual(wanted));

    test.each(['', 'equal', 'front', 'auto', 'Et|x|L', 'E(t|)*9999(t*9999|)*9999L', '(('])('%s is no layout', (text) => {
        expect(parseLayout(text)).toBeNull();
    });

    test.each(['Et*7|(t*8|)*14t*7L', 'Ett|(tt|)*2ttL', 'E|ttt|L', 'Et*4|(tt|)*29m|L', 'Et|t|ttt|L'])(
        '%s is written as it was read',
        (text) => {
            expect(writeLayout(parseLayout(text) ?? [])).toBe(text);
        },
    );
});

test('a layout in short: layers of neighbours that are alike, together', () => {
    expect(layerRuns(parseLayout('Et*7|(t*8|)*14t*7L') ?? [])).toEqual([
        { layers: 7, count: 1 },
        { layers: 8, count: 14 },
        { layers: 7, count: 1 },
    ]);
});

test('a chunk stands on a stage; in a V-shaped schedule the second one runs back', () => {
    const stages = (vShaped: boolean) => [0, 1, 2, 3].map((position) => placeOf(position, 2, vShaped).stage);
    expect(stages(false)).toEqual([0, 1, 0, 1]);
    expect(stages(true)).toEqual([0, 1, 1, 0]);
});

describe('the chunks of an answer', () => {
    const job = { layout: 'equal', pipeline_parallel: 4, virtual_stages: 2, schedule: '1f1b' };
    const counts = (changes: object, stages: number[], { head = 3, config = {} } = {}) =>
        chunksOf({
            job: { ...job, ...changes },
            model: { label: '', parameters: 1, config: config as Config },
            stages: stages.map((count, stage) => ({ layers: count, head: stage === head })),
        })?.map((chunk) => chunk.layers);
    const ends = { count_embedding_as_layer: true, count_loss_as_layer: true };
    test('are even, but for ends that count as layers', () => {
        expect(counts({}, [8, 8, 8, 8])).toEqual([4, 4, 4, 4, 4, 4, 4, 4]);
        expect(counts(ends, [7, 8, 8, 7])).toEqual([3, 4, 4, 4, 4, 4, 4, 3]);
        expect(counts({ virtual_stages: 1 }, [6, 10, 10, 6])).toEqual([6, 10, 10, 6]);
        expect(counts(ends, [6, 8, 8, 8], { head: 0 })).toEqual([3, 4, 4, 4, 4, 4, 4, 3]); // in a V both ends lie on the first stage
    });
    test('are those of the text where there is one', () => {
        expect(counts({ layout: 'Et|tt|tt|t|t|t|t|tL' }, [2, 3, 3, 2])).toEqual([1, 2, 2, 1, 1, 1, 1, 1]);
    });
    test('are not known with one stage, where the answer tells of one stage only, or where stages hold a layer twice', () => {
        expect(counts({ pipeline_parallel: 1 }, [32])).toBeUndefined();
        expect(counts({}, [8])).toBeUndefined();
        expect(counts({ layout: 'Et|tL' }, [1, 1, 0, 0])).toBeUndefined();
        expect(counts({}, [8, 8, 8, 8], { config: { num_hidden_layers: 16 } })).toBeUndefined();
    });
});

test('one layer goes to the neighbour and back, and never from where there is none', () => {
    const chunks = parseLayout('Ett|tt|ttL') ?? [];
    const moved = moveLayer(chunks, 0, true);
    expect(writeLayout(moved ?? [])).toBe('Ettt|t|ttL');
    expect(writeLayout(moveLayer(moved ?? [], 0, false) ?? [])).toBe('Ett|tt|ttL');
    expect(writeLayout(moveLayer(chunks, 2, true) ?? [])).toBe('Ett|t|tttL');
    expect(moveLayer(parseLayout('E|tt|L') ?? [], 0, false)).toBeNull();
});
