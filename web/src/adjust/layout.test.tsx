import { expect, test } from 'vitest';
import type { TextField } from '../core/api';
import { catalog, pageOf } from '../shared/test-data';
import { cellsOf, choose, show, spies, tap, unfold, write } from '../shared/test-view';
import type { Value } from '../state/state';
import { Layout } from './layout';

const field = catalog.fields.find(({ key }) => key === 'layout') as TextField;

function shown(name: string, layout: Value = 'auto') {
    const page = pageOf(name);
    const now = { ...page, job: { ...page.job, layout } };
    const act = spies();
    return { act, page: now, ...show(<Layout page={now} field={field} act={act} />) };
}

test('chosen, even, more at the front, or the reader’s own', () => {
    const { act, find, names } = shown('llama-70b-64-h100', 'equal');
    expect(names('option')).toHaveLength((field.choices ?? []).length + 2); // auto, and one’s own
    choose(find('combobox'), 'auto');
    choose(find('combobox'), 'own');
    expect(act.change.mock.calls).toEqual([
        [{ layout: 'auto' }, 'choose'],
        [{ layout: expect.stringMatching(/^Et.*L$/) }, 'choose'],
    ]);
});

test('a text of one’s own is a field', () => {
    const { act, find } = shown('llama-70b-64-h100', 'Et*20|(t*20|)*2t*20L');
    write(find('textbox'), 'Et*80L');
    expect(act.change).toHaveBeenCalledWith({ layout: 'Et*80L' }, 'type');
});

test('layer by layer: a step moves one from the neighbour', () => {
    const { act, box, find } = shown('llama-70b-64-h100', 'Et*20|(t*20|)*2t*20L');
    const [head, ...rows] = cellsOf(unfold(box, /./).querySelector('table') as Element);
    expect(head).toEqual(['Stage', 'Layers']);
    expect(rows.map(([stage]) => stage)).toEqual(['1', '2', '3', '4']);
    expect(rows[0]?.[1]).toBe('− 20 + embedding');
    tap(find('button', 'Stage 1: one layer more, taken from stage 2'));
    expect(act.change).toHaveBeenCalledWith({ layout: 'Et*21|t*19|t*20|t*20L', pipeline_parallel: 4, virtual_stages: 1 }, 'choose');
});

test('a plan with one stage has no layers to move', () => {
    expect(shown('fsdp').box.querySelector('table')).toBeNull();
});
