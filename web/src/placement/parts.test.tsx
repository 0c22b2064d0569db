import { expect, test, vi } from 'vitest';
import { refusalOf } from '../shared/test-data';
import { choose, show } from '../shared/test-view';
import { Problems, Select } from './parts';

test('a choice by its words', () => {
    const take = vi.fn();
    const options = [
        { id: 'a', text: 'One' },
        { id: 'b', text: 'Two' },
    ];
    const { find, names } = show(<Select label="Which" options={options} value="b" choose={take} />);
    expect(names('option')).toEqual(['One', 'Two']);
    expect(find<HTMLSelectElement>('combobox').value).toBe('b');
    choose(find('combobox', /^Which/), 'a');
    expect(take).toHaveBeenCalledWith('a');
});

test('of many problems the first, and how many more there are', () => {
    const [problem] = refusalOf('place-bad').problems;
    const many = Array.from({ length: 25 }, (_, i) => ({ ...problem, field: `links[${i}]` })) as NonNullable<typeof problem>[];
    const { box, names, text } = show(<Problems title="Wrong" problems={many} />);
    expect(names('heading')).toEqual(['Wrong']);
    expect(box.querySelectorAll('li')).toHaveLength(21);
    expect(text()).toMatch(/and 5 more$/);
});
