import { expect, test, vi } from 'vitest';
import { catalog } from '../shared/test-data';
import { press, show, tap, textOf, write } from '../shared/test-view';
import { ModelPicker } from './model-picker';

function shown(invalid = false) {
    const onChoose = vi.fn();
    const onPaste = vi.fn();
    const view = show(
        <ModelPicker
            models={catalog.models}
            value="llama-3.1-8b"
            label="Llama 3.1 8B"
            invalid={invalid}
            describedBy={invalid ? 'problem-0' : undefined}
            onChoose={onChoose}
            onPaste={onPaste}
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
    expect(all('option').map((one) => textOf(one).split(' ').slice(0, 2).join(' '))).toEqual(['Qwen3 30B-A3B', 'Qwen3 32B', 'Paste a']);
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

test('what no model is called leads to the paste dialog', () => {
    const { field, onPaste, text } = shown();
    tap(field);
    write(field, 'oracle of delphi');
    expect(text()).toContain('No such model here.');
    press(field, 'ArrowUp');
    press(field, 'Enter');
    expect(onPaste).toHaveBeenCalledTimes(1);
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

test('the id of a repository that is not here leads to the dialog that asks; one that is here is found, also by its link', () => {
    const { all, field, onPaste, text } = shown();
    tap(field);
    write(field, 'https://huggingface.co/meta-llama/Llama-3.1-70B');
    expect(all('option').map((one) => textOf(one).split(' ').slice(0, 3).join(' '))).toEqual(['Llama 3.1 70B', 'Paste a config.json…']);
    write(field, 'https://huggingface.co/owner/model-7b/tree/main');
    expect(all('option')).toHaveLength(2);
    expect(text()).toContain('owner/model-7b from the Hugging Face hub… you are asked before anything is sent');
    press(field, 'Enter');
    expect(onPaste.mock.calls).toEqual([['owner/model-7b']]);
});
