import { expect, test } from 'vitest';
import type { Problem } from '../core/api';
import { format } from '../format/format';
import { catalog, pageOf } from '../shared/test-data';
import { choose, show, spies, write } from '../shared/test-view';
import type { Page } from '../store/page';
import { OwnGpu } from './own-gpu';

function shown(page: Page) {
    const act = spies();
    return { act, ...show(<OwnGpu page={page} act={act} />) };
}
const own = (changes: Partial<Page['job']> = {}, more: Partial<Page> = {}): Page => {
    const page = pageOf('own-gpu', more);
    return { ...page, job: { ...page.job, ...changes } as Page['job'] };
};
const base = catalog.gpus.find(({ id }) => id === 'a100-sxm-80gb');

test('each number of the GPU: what is typed, and in empty fields what its base has', () => {
    const { find, all } = shown(own());
    expect(find<HTMLInputElement>('textbox', 'Memory').value).toBe('48');
    const speed = find<HTMLInputElement>('textbox', 'Speed in bf16');
    expect([speed.value, speed.placeholder]).toEqual(['', format.number(base?.bf16_dense_tflop_per_s ?? 0)]);
    expect(find<HTMLInputElement>('textbox', 'Speed in fp8').placeholder).toBe('not known');
    expect(find<HTMLInputElement>('textbox', 'Link between nodes').value).toBe('12.5');
    expect(all('textbox')).toHaveLength(catalog.gpu_fields.length + 1); // and its name
});

test('numbers are typed as data sheets print them', () => {
    const { act, find } = shown(own());
    write(find('textbox', 'Memory'), '96 GB');
    write(find('textbox', 'Speed of its memory'), '3.35 TB/s');
    write(find('textbox', 'Link between nodes'), '400 Gb/s');
    write(find('textbox', 'Speed in bf16'), '2.25 PFLOP/s');
    write(find('textbox', 'Link inside a node'), '');
    write(find('textbox', 'Price in US dollars'), '$1.90');
    write(find('textbox', 'Highest power'), 'much');
    write(find('textbox', 'Its name'), 'Nimbus 96');
    choose(find('combobox', 'It is like'), 'h200-sxm-141gb');
    expect(act.change.mock.calls).toEqual([
        [{ 'gpu.memory_gib': 96 }, 'type'],
        [{ 'gpu.hbm_gbyte_per_s': 3350 }, 'type'],
        [{ 'gpu.network_gbyte_per_s': 50 }, 'type'],
        [{ 'gpu.bf16_dense_tflop_per_s': 2250 }, 'type'],
        [{ 'gpu.link_gbyte_per_s': 'auto' }, 'type'],
        [{ 'gpu.usd_per_gpu_hour': 1.9 }, 'type'],
        [{ 'gpu.board_watts': 'much' }, 'type'],
        [{ 'gpu.name': 'Nimbus 96' }, 'type'],
        [{ 'gpu.base': 'h200-sxm-141gb', cluster: '' }, 'choose'],
    ]);
});

test('it stands open until there are numbers, and where one is wrong: said at its field', () => {
    const open = (page: Page) => shown(page).one<HTMLDetailsElement>('details').open;
    expect(open(own())).toBe(false);
    expect(open(own({ 'gpu.memory_gib': 'auto', 'gpu.network_gbyte_per_s': 'auto' }))).toBe(true);
    const problem: Problem = {
        field: 'gpu.memory_gib',
        rule: 'range',
        value: -1,
        message: { id: 'problem.too_small', args: { name: { id: 'field.memory_gib' }, value: -1, min: 1, max: 10000 } },
        suggestion: null,
        nearest: 1,
    };
    const wrong = own({ 'gpu.memory_gib': -1 }, { problems: [problem] });
    expect(open(wrong)).toBe(true);
    const { find, text } = shown(wrong);
    const memory = find('textbox', 'Memory');
    expect(memory.getAttribute('aria-invalid')).toBe('true');
    expect(memory.getAttribute('aria-describedby')).toContain('problem-0');
    expect(text()).toContain('Memory must be a number from 1 to 10,000. -1 is too small.');
});
