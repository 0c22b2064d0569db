import { expect, test } from 'vitest';
import { goodOf, pageOf, rankedPage } from '../shared/test-data';
import { choose, show, spies, tap, write } from '../shared/test-view';
import type { Page } from '../store/page';
import type { Only } from '../store/ranked';
import { DegreeFilters, filterTexts, ListFilters, NothingLeft } from './filters';

const ranked = goodOf('rank', 'rank-70b');

function shown(changes: Partial<Page> = {}) {
    const act = spies();
    return { act, ...show(<ListFilters page={rankedPage(changes)} ranked={ranked} act={act} />) };
}

test('a filter for every degree, the memory, and what differs among the plans', () => {
    const { act, find, names } = shown();
    expect(names('combobox').slice(0, 4)).toEqual([
        'Tensor parallel (TP)',
        'Pipeline parallel (PP)',
        'Context parallel (CP)',
        'Micro-batch',
    ]);
    const [degree = 1] = ranked.choices.tensor_parallel;
    choose(find('combobox', 'Tensor parallel (TP)'), String(degree));
    write(find('textbox', 'Memory at most, in GB'), '60');
    expect(act.filter.mock.calls).toEqual(
        [
            [{ tensor_parallel: degree }, {}, 'choose'],
            [{}, { memory_at_most_gib: 60 }, 'type'],
        ].map(([degrees, list, how]) => (how === 'choose' ? [degrees, list] : [degrees, list, how])),
    );
});

test('what is filtered by stays chosen, is said on paper, and can all be let go', () => {
    const changes = { heatFilter: { tensor_parallel: 8 }, listFilter: { memory_at_most_gib: 60, sequence_parallel: true } };
    const { act, find, text } = shown(changes);
    expect(find<HTMLSelectElement>('combobox', 'Tensor parallel (TP)').value).toBe('8');
    expect(text()).toContain('Only plans with: TP 8');
    tap(find('button', 'Show all'));
    expect(act.filter).toHaveBeenCalledWith({}, {});
});

test('a wrong memory says why', () => {
    const [problem] = pageOf('broken-rules').problems;
    const page = rankedPage();
    const problems = problem ? [{ ...problem, field: 'only.memory_at_most_gib' }] : [];
    const { find } = shown({ ranking: { ...page.ranking, problems }, listFilter: { memory_at_most_gib: 'much' } });
    expect(find('textbox', 'Memory at most, in GB').getAttribute('aria-describedby')).toBe('filter-memory-problem');
});

test('the degrees alone, for the map', () => {
    const act = spies();
    const { find, names } = show(
        <DegreeFilters page={rankedPage({ heatFilter: { micro_batch: 3 } })} act={act} choices={ranked.choices} />,
    );
    expect(names('combobox')).toHaveLength(4);
    expect(find<HTMLSelectElement>('combobox', 'Micro-batch').value).toBe('3'); // though no plan has it
    choose(find('combobox', 'Micro-batch'), '');
    expect(act.filter).toHaveBeenCalledWith({}, {});
});

test('nothing left: the filter that is to blame, and the way out', () => {
    const nothing = (only: Only, excluding: string[]) => {
        const act = spies();
        const page = rankedPage({ heatFilter: { tensor_parallel: 8 }, listFilter: { zero: 'weights' } });
        const view = show(
            <NothingLeft page={{ ...page, ranking: { ...page.ranking, only } }} ranked={{ ...ranked, excluding }} act={act} />,
        );
        return { act, ...view };
    };
    const both = { tensor_parallel: 8, zero: 'weights' };
    const one = nothing(both, ['tensor_parallel']);
    expect(one.text()).toContain('“TP 8” excludes every plan');
    tap(one.find('button', 'Clear “TP 8”'));
    expect(one.act.filter).toHaveBeenCalledWith({}, { zero: 'weights' });
    expect(nothing(both, ['tensor_parallel', 'zero']).names('button')).toHaveLength(3);
    expect(nothing(both, []).names('button')).toEqual(['Show all']);
    expect(nothing({ zero: 'weights' }, []).text()).toContain('The filter is not the reason');
});

test('every filter has its words', () => {
    expect(filterTexts(rankedPage(), { tensor_parallel: 8, memory_at_most_gib: 60, sequence_parallel: false })).toMatch(
        /^TP 8, memory at most 60.GB, .*: no$/,
    );
});
