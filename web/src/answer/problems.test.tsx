import { expect, test } from 'vitest';
import { pageOf } from '../shared/test-data';
import { show, spies, tap } from '../shared/test-view';
import { allAuto } from '../state/state';
import { partOf } from '../words/parts';
import { Problems } from './problems';

function shown(name: string) {
    const page = pageOf(name);
    const act = spies();
    return { act, page, ...show(<Problems page={page} act={act} />) };
}

test('nothing is wrong: nothing is said', () => {
    expect(shown('default').text()).toBe('');
});

test('every problem but the first, which is the headline, and one way out of several alike', () => {
    const { act, find, names, one, page } = shown('broken-rules');
    expect(names('heading')).toEqual([`${page.problems.length - 1} more problems`]);
    expect(names('button')).toEqual(['Set Tensor parallel (TP) to 4', 'Let Fourfold choose the plan', 'Set GPUs to 15']);
    expect(one('ul').querySelectorAll('li')).toHaveLength(page.problems.length - 1);
    tap(find('button', 'Set GPUs to 15'));
    expect(act.change).toHaveBeenCalledWith({ gpus: 15 }, 'choose');
});

test('what is set of the plan can be given up at once, where it may be what is wrong', () => {
    const { act, find, page } = shown('broken-rules');
    tap(find('button', 'Let Fourfold choose the plan'));
    expect(act.change).toHaveBeenCalledWith(allAuto(page.catalog), 'choose');
    const open = { ...page, job: { ...page.job, ...allAuto(page.catalog) } };
    expect(show(<Problems page={open} act={act} />).names('button')).not.toContain('Let Fourfold choose the plan');
});

test('degrees that could change instead of the GPUs are no further problems', () => {
    const alike = { rule: 'gpus_divide', message: { id: 'x' }, suggestion: { id: 'y' } } as const;
    const problems = [
        { ...alike, field: 'gpus', value: 32, nearest: 24 },
        { ...alike, field: 'pipeline_parallel', value: 3, nearest: 2 },
    ];
    const { names } = show(<Problems page={pageOf('default', { problems })} act={spies()} />);
    expect(names('heading')).toEqual([]);
    expect(names('button')).toEqual(['Set GPUs to 24', 'Set Pipeline parallel (PP) to 2']);
});

test('a problem without a nearest value leads to its field; an unknown key has none', () => {
    const { names, find } = shown('bad-request');
    const field = document.createElement('input');
    field.id = 'field-gpu';
    document.body.append(field);
    tap(find('button', 'Change GPU'));
    expect(document.activeElement).toBe(field);
    field.remove();
    expect(names('button')).toContain('Set Model to Llama 3.1 8B');
    expect(names('button').some((name) => name.includes('tensor_paralel'))).toBe(false);
});

test('the name of a GPU of one’s own is called by its words, which are there with the problem', () => {
    const problem = { field: 'gpu.name', rule: 'range', value: '', message: { id: 'x' }, suggestion: { id: 'y' }, nearest: null } as const;
    const page = pageOf('default', { problems: [problem] });
    expect(show(<Problems page={page} act={spies()} />).names('button')).toEqual(['Change its name']);
    expect(['own_gpu.name', 'own_gpu.base'].map(partOf)).toEqual(['names', 'names']);
});

test('an id that may mean several things offers each of them', () => {
    const [problem] = pageOf('bad-request').problems.filter(({ field }) => field === 'gpu');
    const candidates = ['h100-pcie-80gb', 'h100-sxm-80gb'];
    const page = pageOf('bad-request', { problems: problem ? [{ ...problem, candidates, suggestion: { id: 'suggestion.one_of' } }] : [] });
    const act = spies();
    const { names, find, text } = show(<Problems page={page} act={act} />);
    expect(names('button')).toEqual(['H100 PCIe 80 GB', 'H100 SXM 80 GB']);
    expect(text().indexOf('Choose one of these.')).toBeLessThan(text().indexOf('H100 PCIe 80 GB')); // before what it speaks of
    tap(find('button', 'H100 SXM 80 GB'));
    expect(act.change).toHaveBeenCalledWith({ gpu: 'h100-sxm-80gb' }, 'choose');
});

test('the nearest number that works is offered as it is', () => {
    const problem = {
        field: 'gpu.link_gbyte_per_s',
        rule: 'range',
        value: -3,
        message: { id: 'x' },
        suggestion: null,
        nearest: 0.1,
    } as const;
    const { names } = show(<Problems page={pageOf('default', { problems: [problem] })} act={spies()} />);
    expect(names('button')).toEqual(['Set Link inside a node to 0.1']);
});
