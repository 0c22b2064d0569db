import { expect, test } from 'vitest';
import { rankedPage } from '../shared/test-data';
import { choose, show, spies, tap, textOf, unfold } from '../shared/test-view';
import { LeftOut } from './left-out';

function shown(job = {}) {
    const page = rankedPage();
    const act = spies();
    return { act, ...show(<LeftOut page={{ ...page, job: { ...page.job, ...job } }} act={act} />) };
}

test('what the search leaves out can be put in', () => {
    const { act, find, one } = shown({ leave_out: 'zero_bubble,recompute' });
    expect(textOf(one('p'))).toMatch(/^Left out of the search: .* and .*\./);
    tap(find('button', /^Search zero/i));
    expect(act.change).toHaveBeenCalledWith({ leave_out: 'recompute' }, 'choose');
});

test('everything else can be left out, in the order of the catalogue', () => {
    const { act, all, box, find } = shown({ leave_out: 'zero_bubble' });
    unfold(box, 'What is searched');
    const ticked = all<HTMLInputElement>('checkbox').filter(({ checked }) => checked);
    expect(ticked).toHaveLength(1);
    tap(find('checkbox', /^recomput/i));
    expect(act.change.mock.calls[0]?.[0].leave_out).toMatch(/^(zero_bubble,recompute|recompute,zero_bubble)$/);
});

test('how much risk it accepts; a value of the link stands among the usual ones', () => {
    const { act, find, names } = shown({ risk: 0.1 });
    expect(names('option')).toEqual(['1 %', '5 %', '10 %', '20 %', '50 %']);
    choose(find('combobox'), '0.2');
    expect(act.change).toHaveBeenCalledWith({ risk: 0.2 }, 'choose');
});

test('what no search tries with the framework is left out, too; it cannot be put in', () => {
    const { find, one, names } = shown({ leave_out: 'zero_bubble', framework: 'nanotron' });
    expect(textOf(one('p'))).toMatch(/^Left out of the search: zero-bubble schedules and ZeRO-2, ZeRO-3\./);
    expect(find('button', /^Search zero/i)).toBeTruthy();
    expect(names('button').filter((name) => name.includes('ZeRO'))).toEqual([]);
    for (const other of [{ framework: 'pytorch' }, { zero: 'weights' }])
        expect(shown({ leave_out: 'zero_bubble', ...other }).text()).toContain('Left out of the search: zero-bubble schedules.');
});

test('nothing is left out', () => {
    expect(shown({ leave_out: '', framework: 'pytorch' }).text()).toContain('Nothing is left out of the search.');
});

test('what a single framework has is named, kept and put in with that framework alone', () => {
    const own = shown({ leave_out: 'zero_bubble,megatron_fsdp' });
    expect(textOf(own.one('p'))).toMatch(/^Left out of the search: zero-bubble schedules and FSDP in Megatron\./);
    tap(own.find('button', /^Search FSDP in Megatron/));
    expect(own.act.change).toHaveBeenCalledWith({ leave_out: 'zero_bubble' }, 'choose');
    const other = shown({ leave_out: 'zero_bubble,megatron_fsdp', framework: 'pytorch' });
    expect(other.text()).not.toContain('FSDP');
    tap(other.find('button', /^Search zero/i));
    expect(other.act.change).toHaveBeenCalledWith({ leave_out: 'megatron_fsdp' }, 'choose');
});
