import { expect, test } from 'vitest';
import { pageOf } from '../shared/test-data';
import { choose, show, spies, tap, textOf, unfold, write } from '../shared/test-view';
import { Layout } from './layout';
import { MethodChoice, Options } from './options';

function shown(name = 'default', job = {}) {
    const page = pageOf(name);
    const act = spies();
    const now = { ...page, job: { ...page.job, ...job } };
    return { act, page: now, ...show(<Options page={now} act={act} Layout={Layout} />) };
}
const titles = (box: Element): string[] => [...box.querySelectorAll('summary')].map(textOf);

test('the settings stand in groups; what cannot matter is not shown', () => {
    const { box, names } = shown('fsdp');
    expect(titles(box)[0]).toBe('Machine');
    expect(titles(box).some((title) => title.startsWith('Experts'))).toBe(false);
    expect(titles(box).some((title) => title.startsWith('Pipeline'))).toBe(false);
    expect(names('combobox')).toContain('Cluster');
    expect(titles(shown('mixtral-64-b200').box).some((title) => title.startsWith('Experts'))).toBe(true);
});

test('every setting has a name, and what it says is told', () => {
    const { box } = shown('mixtral-64-b200');
    for (const field of box.querySelectorAll('.field')) {
        const control = field.querySelector('select, input');
        const help = control?.getAttribute('aria-describedby')?.split(' ')[0];
        if (help) expect(textOf(box.querySelector(`#${help}`) as Element)).not.toBe('');
    }
});

test('a choice, a tick, a number and a set change their fields', () => {
    const { act, find, one } = shown('llama-70b-64-h100', { recompute: 'selective', recompute_modules: 'core_attn' });
    choose(find('combobox', 'Cluster'), '');
    choose(one('#field-zero'), 'weights');
    tap(one('#field-gradients_in_fp32'));
    write(one('#field-optimizer_offload'), '0.5');
    tap(find('checkbox', /^Norms/));
    choose(one('#field-sequence_parallel'), 'false');
    expect(act.change.mock.calls).toEqual([
        [{ cluster: '' }, 'choose'],
        [{ zero: 'weights' }, 'choose'],
        [{ gradients_in_fp32: false }, 'choose'],
        [{ optimizer_offload: 0.5 }, 'type'],
        [{ recompute_modules: 'core_attn,layernorm' }, 'choose'],
        [{ sequence_parallel: false }, 'choose'],
    ]);
});

test('what differs from the usual is counted on its group, and can go back to auto', () => {
    const { act, box, find } = shown('default', { zero: 'weights' });
    expect(textOf(unfold(box, /^Sharding 1 changed/).querySelector('summary') as Element)).toBe('Sharding 1 changed');
    tap(find('button', /: reset to auto$/));
    expect(act.change).toHaveBeenCalledWith({ zero: 'auto' }, 'choose');
});

test('a wrong value opens no secret: its group says that something is wrong', () => {
    expect(titles(shown('bad-request').box)).toContain('Kernels and framework has a problem');
});

test('the counting method: what each says, and what the other comes to', () => {
    const page = pageOf();
    const act = spies();
    const { find, names, text } = show(<MethodChoice page={page} answer={page.answer} act={act} />);
    expect(names('radiogroup')).toEqual(['Counting method']);
    expect(find<HTMLInputElement>('radio', /^Fourfold/).checked).toBe(true);
    expect(text()).toContain('What it does not count');
    tap(find('radio', /^Fujii/));
    expect(act.change).toHaveBeenCalledWith({ method: 'fujii2024' }, 'choose');
});
