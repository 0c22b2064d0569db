import { expect, test, vi } from 'vitest';
import { goodOf, pageOf } from '../shared/test-data';
import { choose, press, show, spies, tap, write } from '../shared/test-view';
import { formatLink, inUse, parseLink, withConfig } from '../state/state';
import type { Page } from '../store/page';
import { Sentence } from './sentence';

function shown(page: Page) {
    const act = spies();
    return { act, ...show(<Sentence page={page} act={act} />) };
}

test('the run as a sentence of fields', () => {
    const { find, text } = shown(pageOf());
    expect(text()).toBe('Train Llama 3.1 8B on 8 × H100 SXM 80 GB with 8,192-token sequences, 1,024 at a time, on 161 billion tokens.');
    expect(find<HTMLInputElement>('combobox', 'Model').value).toBe('Llama 3.1 8B');
    expect(find<HTMLSelectElement>('combobox', 'GPU').value).toBe('h100-sxm-80gb');
    expect(find<HTMLInputElement>('textbox', 'Number of GPUs').value).toBe('8');
    expect(find<HTMLInputElement>('textbox', 'Sequence length in tokens').value).toBe('8,192');
    expect(find<HTMLInputElement>('textbox', 'Sequences per batch').value).toBe('1,024');
});

test('every field changes its part of the run', () => {
    const { act, find } = shown(pageOf());
    write(find('textbox', 'Number of GPUs'), '64');
    press(find('textbox', 'Sequence length in tokens'), 'ArrowUp');
    choose(find('combobox', 'GPU'), 'b200-sxm-180gb');
    tap(find('combobox', 'Model'));
    tap(find('option', /^Mixtral 8x7B/));
    expect(act.change.mock.calls).toEqual([
        [{ gpus: 64 }, 'type'],
        [{ sequence_length: 16384 }, 'type'],
        [{ gpu: 'b200-sxm-180gb', cluster: '' }, 'choose'],
        [{ model: 'mixtral-8x7b' }, 'choose'],
    ]);
});

test('a model that the catalogue lacks is taken as if its config had been pasted', async () => {
    const page = pageOf('default');
    const { act, find, again } = shown(page);
    const [gemma] = goodOf('find_models', 'find-models').models;
    if (typeof gemma?.model !== 'object') throw new Error('a config was expected');
    vi.doMock('./also-known', () => ({ alsoKnown: async () => ({ title: 'More models:', said: '', near: false, models: [gemma] }) }));
    tap(find('combobox', 'Model'));
    write(find('combobox', 'Model'), 'gemma 2b');
    await vi.waitFor(() => find('option', /^Gemma 2B/));
    tap(find('option', /^Gemma 2B/));
    const job = withConfig(page.job, gemma.model);
    expect(act.replaceJob.mock.calls).toEqual([[job, 'choose']]);
    expect(parseLink(formatLink(job, page.catalog), page.catalog).job).toEqual(inUse(job));
    again(<Sentence page={{ ...page, job }} act={act} />);
    expect(find<HTMLInputElement>('combobox', 'Model').value).toBe('gemma-2b');
});

test('a model that is searched for with “LoRA” is taken with it', async () => {
    const { models } = goodOf('find_models', 'find-models');
    const sets = { trained: 'lora' };
    const known = { ...models[0], id: 'qwen3-8b', label: 'Qwen3 8B (LoRA)', model: 'qwen3-8b' };
    vi.doMock('./also-known', () => ({ alsoKnown: async () => ({ title: '', said: '', near: false, models: [known, models[0]], sets }) }));
    const { act, find } = shown(pageOf());
    const field = find('combobox', 'Model');
    tap(field);
    write(field, 'qwen3 8b lora');
    press(field, 'Enter');
    await vi.waitFor(() => expect(act.change.mock.calls).toEqual([[{ model: 'qwen3-8b', ...sets }, 'choose']]));
    tap(field);
    write(field, 'gemma 2b lora');
    await vi.waitFor(() => find('option', /^Gemma 2B/));
    tap(find('option', /^Gemma 2B/));
    expect(act.replaceJob.mock.lastCall?.[0]).toMatchObject({ model: 'custom', ...sets });
});

test('a number of GPUs may say which', () => {
    const { act, find } = shown(pageOf());
    for (const text of ['32 H100', '4 x 8 H200', '64 A100', '16 apples']) write(find('textbox', 'Number of GPUs'), text);
    expect(act.change.mock.calls).toEqual([
        [{ gpus: 32 }, 'type'],
        [{ gpus: 32, gpu: 'h200-sxm-141gb', cluster: '' }, 'type'],
        [{ gpus: 64, gpu: 'a100', cluster: '' }, 'type'], // there are four: the core asks which
        [{ gpus: '16 apples' }, 'type'],
    ]);
});

test('a GPU of one’s own starts from the one shown, and is then called by its name', () => {
    const { act, find } = shown(pageOf('default', { job: { ...pageOf().job, gpu: 'b200-sxm-180gb', cluster: 'dgx-b200' } }));
    choose(find('combobox', 'GPU'), 'custom');
    expect(act.change.mock.calls).toEqual([[{ gpu: 'custom', cluster: '', 'gpu.name': 'My GPU', 'gpu.base': 'b200-sxm-180gb' }, 'choose']]);
    const own = shown(pageOf('own-gpu'));
    expect(own.text()).toContain('on 8 × Nimbus 48 <i> with');
    choose(own.find('combobox', 'GPU'), 'h100-sxm-80gb');
    expect(own.act.change.mock.calls).toEqual([[{ gpu: 'h100-sxm-80gb', cluster: '' }, 'choose']]);
});

test('a model that is not of the list has its own name, and can be looked at', () => {
    const page = pageOf('custom-model');
    const { act, find } = shown({ ...page, job: { ...page.job, 'model._name_or_path': 'swiss-ai/Apertus-8B-2509' } });
    expect(find<HTMLInputElement>('combobox', 'Model').value).toBe('Apertus-8B-2509');
    tap(find('button', 'Look at the model’s config'));
    expect(JSON.parse(act.paste.mock.calls[0]?.[0] ?? '')).toMatchObject({ model_type: 'qwen3', hidden_size: 1024 });
});

test('a wrong field says so, and a GPU that is not known stays among the choices', () => {
    const { find } = shown(pageOf('bad-request'));
    const gpus = find<HTMLInputElement>('textbox', 'Number of GPUs');
    expect([gpus.getAttribute('aria-invalid'), gpus.getAttribute('aria-describedby')]).toEqual(['true', 'problem-2']);
    const { names } = shown(pageOf('default', { job: { ...pageOf().job, gpu: 'abacus' } }));
    expect(names('option')[0]).toBe('abacus?');
});

test('where adapters alone are trained, the sentence says so and leads to that setting', () => {
    const page = pageOf();
    const { find, text } = shown({ ...page, job: { ...page.job, trained: 'lora' } });
    expect(text()).toContain('Train Llama 3.1 8B (LoRA) on 8 ×');
    expect(find('link', '(LoRA)').getAttribute('href')).toBe('#adjust');
});
