import { act } from 'preact/test-utils';
import { expect, test, vi } from 'vitest';
import { catalog, goodOf } from '../shared/test-data';
import { press, show, tap, textOf, write } from '../shared/test-view';
import type { AlsoKnown } from './also-known';
import { ModelPicker } from './model-picker';

const nothing: AlsoKnown = { title: '', said: '', near: false, vague: false, models: [] };

function shown(invalid = false, ask: (typed: string) => Promise<AlsoKnown> = async () => nothing) {
    const onChoose = vi.fn();
    const onPaste = vi.fn();
    const view = show(
        <ModelPicker
            models={catalog.models}
            value="llama-3.1-8b"
            label="Llama 3.1 8B"
            invalid={invalid}
            describedBy={invalid ? 'problem-0' : undefined}
            onChoose={(model, sets) => (sets ? onChoose(model, sets) : onChoose(model))}
            onPaste={onPaste}
            ask={ask}
        />,
    );
    return { onChoose, onPaste, field: view.find<HTMLInputElement>('combobox', 'Model'), ...view };
}

test('closed it shows the model in use; a tap opens the list at it', () => {
    const { all, field, find } = shown();
    expect(field.value).toBe('Llama 3.1 8B');
    expect(field.getAttribute('aria-expanded')).toBe('false');
    tap(field);
    expect(all('option')).toHaveLength(catalog.models.length + 1);
    expect(textOf(all('option').find((one) => one.getAttribute('aria-selected') === 'true') as Element)).toMatch(
        /^Llama 3.1 8B 8.03 billion/,
    );
    tap(find('option', /^Llama 3.1 70B/));
});

test('typing narrows it, arrows and Enter choose', () => {
    const { all, field, onChoose } = shown();
    tap(field);
    write(field, 'qwen3 3');
    const names = all('option').map((one) => textOf(one).split(' ').slice(0, 2).join(' '));
    expect(names).toEqual(['Qwen3 30B-A3B', 'Qwen3 32B', 'Qwen3.5 35B-A3B', 'Qwen3.5 397B-A17B', 'Paste a']);
    press(field, 'ArrowDown');
    expect(field.getAttribute('aria-activedescendant')).toBe('model-1');
    press(field, 'Enter');
    expect(onChoose).toHaveBeenCalledWith('qwen3-32b');
    expect(field.getAttribute('aria-expanded')).toBe('false');
});

test('words in any order and the name of the repository find a model', () => {
    const { all, field } = shown();
    tap(field);
    for (const typed of ['70b llama 3.1', 'meta-llama/Llama-3.1-70B']) {
        write(field, typed);
        expect(all('option').map((one) => textOf(one).split(' ').slice(0, 3).join(' '))).toEqual(['Llama 3.1 70B', 'Paste a config.json…']);
    }
});

test('what no model is called leads to the paste dialog', async () => {
    const { field, onPaste, text } = shown();
    tap(field);
    write(field, 'oracle of delphi');
    await vi.waitFor(() => expect(text()).toContain('No such model here.'));
    expect(text()).toContain('No such model here.');
    press(field, 'ArrowUp');
    press(field, 'Enter');
    expect(onPaste.mock.calls).toEqual([['oracle of delphi']]);
    act(() => field.focus()); // the dialog gives the focus back
    expect(field).toHaveProperty('value', 'oracle of delphi');
});

test('a config or a script that is pasted goes to the paste dialog; a name does not', () => {
    const { field, onPaste } = shown();
    const paste = (text: string): boolean => {
        const event = Object.assign(new Event('paste', { bubbles: true, cancelable: true }), { clipboardData: { getData: () => text } });
        field.dispatchEvent(event);
        return event.defaultPrevented;
    };
    expect(paste('meta-llama/Llama-3.1-70B\n')).toBe(false);
    for (const file of ['{"hidden_size": 1}', '#!/bin/bash\ntorchrun x.py', `torchrun pretrain_gpt.py ${'--flag '.repeat(40)}`]) {
        expect(paste(file)).toBe(true);
        expect(onPaste).toHaveBeenLastCalledWith(file);
    }
    expect(onPaste).toHaveBeenCalledTimes(3);
});

test('Escape closes it and takes nothing', () => {
    const { all, field, onChoose } = shown(true);
    press(field, 'ArrowDown');
    press(field, 'Escape');
    expect(all('option')).toEqual([]);
    expect(onChoose).not.toHaveBeenCalled();
    expect([field.getAttribute('aria-invalid'), field.getAttribute('aria-describedby')]).toEqual(['true', 'problem-0']);
});

test('a config that is put where a model is asked for goes to the dialog that reads it', () => {
    const { field, onPaste, onChoose } = shown();
    tap(field);
    write(field, ' {"model_type": "llama"');
    expect(onPaste.mock.calls).toEqual([[' {"model_type": "llama"']]);
    expect(field.getAttribute('aria-expanded')).toBe('false');
    expect(onChoose).not.toHaveBeenCalled();
});

test('the id of a repository that is not here leads to the dialog that asks; one that is here is found, also by its link', async () => {
    const { all, field, onPaste, text } = shown();
    tap(field);
    write(field, 'https://huggingface.co/meta-llama/Llama-3.1-70B');
    expect(all('option').map((one) => textOf(one).split(' ').slice(0, 3).join(' '))).toEqual(['Llama 3.1 70B', 'Paste a config.json…']);
    write(field, 'https://huggingface.co/owner/model-7b/tree/main');
    expect(all('option')).toHaveLength(2);
    expect(text()).toContain('owner/model-7b from the Hugging Face hub… you are asked before anything is sent');
    press(field, 'Enter');
    await vi.waitFor(() => expect(onPaste.mock.calls).toEqual([['owner/model-7b']]));
});

// What knows more models than the catalogue: answers when the test says so.
function asking() {
    const waiting = new Map<string, (also: AlsoKnown) => void>();
    const ask = vi.fn((typed: string) => new Promise<AlsoKnown>((resolve) => void waiting.set(typed, resolve)));
    const answer = (typed: string, also: Partial<AlsoKnown>) => act(async () => waiting.get(typed)?.({ ...nothing, ...also }));
    return { ask, answer };
}
const { models: gemmas } = goodOf('find_models', 'find-models');
const known = { title: 'More models:', said: 'More models: Gemma 2B, Gemma 2 2B', models: gemmas };

test('where the list is short, models that the catalogue lacks stand below it, and one is taken with its config', async () => {
    const { ask, answer } = asking();
    const { all, field, find, onChoose, text } = shown(false, ask);
    tap(field);
    expect(ask).not.toHaveBeenCalled();
    write(field, 'llama');
    expect(ask).not.toHaveBeenCalled(); // there are many
    write(field, 'gemma 2b');
    expect(ask.mock.calls).toEqual([['gemma 2b']]);
    expect(text()).toContain('One moment…');
    expect(text()).not.toContain('No such model here.');
    await answer('gemma 2b', known);
    expect(text()).toContain('More models: Gemma 2B 2.51 billion parameters');
    expect(textOf(find('status'))).toBe('More models: Gemma 2B, Gemma 2 2B');
    expect(all('option').map((one) => textOf(one).split(' ').slice(0, 3).join(' '))).toEqual([
        'Gemma 2B 2.51',
        'Gemma 2 2B',
        'Paste a config.json…',
    ]);
    press(field, 'ArrowDown');
    expect(field.getAttribute('aria-activedescendant')).toBe('model-1');
    press(field, 'Enter');
    expect(onChoose.mock.calls).toEqual([[gemmas[1]?.model]]);
    expect(field.getAttribute('aria-expanded')).toBe('false');
});

test('Enter before the list is whole takes its first model when it is', async () => {
    const { ask, answer } = asking();
    const { field, onChoose, onPaste } = shown(false, ask);
    tap(field);
    write(field, 'gemma 2b');
    press(field, 'Enter');
    expect(onPaste).not.toHaveBeenCalled();
    await answer('gemma 2b', known);
    expect(onChoose.mock.calls).toEqual([[gemmas[0]?.model]]);
});

test('Enter takes a model whose number is the one typed, not one where it begins a longer one', async () => {
    const [one, other] = goodOf('find_models', 'find-models').models;
    if (!one || !other) throw new Error('the golden models are no longer there');
    const olmo3 = { ...one, id: 'olmo-3-32b', label: 'OLMo 3 32B', model: { model_type: 'olmo3' } as never };
    const olmo2 = { ...other, id: 'olmo-2-32b', label: 'OLMo 2 32B', model: 'olmo-2-32b' };
    const { all, field, onChoose } = shown(false, async () => ({ ...nothing, title: 'More models:', models: [olmo3, olmo2] }));
    for (const typed of ['olmo 3 32', 'olmo 3']) {
        tap(field);
        write(field, typed);
        press(field, 'Enter'); // before the list is whole
        await vi.waitFor(() => expect(onChoose).toHaveBeenLastCalledWith(olmo3.model));
        onChoose.mockClear();
    }
    tap(field);
    write(field, 'olmo 3');
    await vi.waitFor(() =>
        expect(all('option').map((one) => textOf(one).slice(0, 10))).toEqual(['OLMo 3 32B', 'OLMo 2 32B', 'Paste a co']),
    );
    write(field, 'olmo 32'); // whole in both: the page's own comes first
    await vi.waitFor(() =>
        expect(all('option').map((one) => textOf(one).slice(0, 10))).toEqual(['OLMo 2 32B', 'OLMo 3 32B', 'Paste a co']),
    );
});

test('Enter takes no model that may not be meant: the list stays open, and who points at one takes it', async () => {
    const { ask, answer } = asking();
    const { field, onChoose } = shown(false, ask);
    const vague = { ...known, title: 'Did you mean:', vague: true };
    tap(field);
    write(field, 'gemma 5');
    press(field, 'Enter'); // before the list is whole
    await answer('gemma 5', vague);
    press(field, 'Enter'); // and after
    expect(onChoose).not.toHaveBeenCalled();
    expect([field.getAttribute('aria-expanded'), field.getAttribute('aria-activedescendant')]).toEqual(['true', null]);
    press(field, 'ArrowUp');
    expect(field.getAttribute('aria-activedescendant')).toBe('model-2');
    write(field, 'gemma 7');
    await answer('gemma 7', vague);
    press(field, 'ArrowDown');
    press(field, 'Enter');
    expect(onChoose.mock.calls).toEqual([[gemmas[0]?.model]]);
});

test('Enter is forgotten when more is typed, or the list is closed', async () => {
    const { ask, answer } = asking();
    const { field, onChoose, onPaste } = shown(false, ask);
    tap(field);
    write(field, 'gemma 2');
    write(field, 'gemma 2b');
    press(field, 'Enter');
    write(field, 'gemma 2b i');
    await answer('gemma 2b', known);
    await answer('gemma 2b i', known);
    expect(onChoose).not.toHaveBeenCalled();
    press(field, 'Escape');
    await answer('gemma 2b i', known);
    expect([onChoose.mock.calls, onPaste.mock.calls]).toEqual([[], []]);
});

test('a model that the catalogue has by another name stands once; a repository that is known need not be asked for', async () => {
    const { ask, answer } = asking();
    const { all, field, onChoose, text } = shown(false, ask);
    const [mirrored] = goodOf('find_models', 'find-models-mirror').models;
    tap(field);
    write(field, 'unsloth/Meta-Llama-3.1-8B-Instruct-bnb-4bit');
    await answer('unsloth/Meta-Llama-3.1-8B-Instruct-bnb-4bit', { title: 'More models:', models: mirrored ? [mirrored] : [] });
    expect(all('option')).toHaveLength(3); // it is no built-in model's own repository: the hub may have it
    write(field, 'google/gemma-2-2b');
    await answer('google/gemma-2-2b', known);
    expect(text()).not.toContain('Hugging Face hub…');
    write(field, 'Llama 3.1 8B');
    await answer('Llama 3.1 8B', { title: 'More models:', models: mirrored ? [mirrored] : [] });
    expect(all('option')).toHaveLength(2);
    press(field, 'Enter');
    expect(onChoose.mock.calls).toEqual([['llama-3.1-8b']]);
});

test('of a name that no model has, the one spelled alike is offered', async () => {
    const { ask, answer } = asking();
    const { all, field, text } = shown(false, ask);
    tap(field);
    write(field, 'gema 2b');
    await answer('gema 2b', { title: 'Did you mean:', near: true, models: gemmas.slice(0, 1) });
    expect(text()).toContain('No such model here. Paste its config.json instead. Did you mean: Gemma 2B');
    expect(all('option')).toHaveLength(2);
});

test('what is no model is said where it is typed', async () => {
    const { ask, answer } = asking();
    const { field, text } = shown(false, ask);
    tap(field);
    write(field, 'qlora');
    await answer('qlora', { title: 'LoRA is not a model.', models: [] });
    expect(text()).toContain('LoRA is not a model.');
    expect(text()).not.toContain('No such model here.');
});

test('where more cannot be had, the list is as it was', async () => {
    const { all, field, text } = shown(false, () => Promise.reject(new Error('offline')));
    tap(field);
    write(field, 'gemma 2b');
    await vi.waitFor(() => expect(text()).toContain('No such model here.'));
    expect(all('option')).toHaveLength(1);
});
