import { expect, test, vi } from 'vitest';
import type { Imported } from '../core/api';
import { goodOf, refusalOf } from '../shared/test-data';
import { settle, show, tap, write } from '../shared/test-view';
import { PasteDialog } from './paste';

const imported = goodOf('import_config', 'import-llama');

function shown(answer: Imported, start = '') {
    const use = vi.fn();
    const close = vi.fn();
    const importConfig = vi.fn(async (_: string) => answer);
    return { use, close, importConfig, ...show(<PasteDialog start={start} importConfig={importConfig} use={use} close={close} />) };
}

test('it waits for a config, reads what is typed, and hands the model on', async () => {
    const { find, importConfig, text, use } = shown(imported);
    expect(text()).toContain('Waiting for a config.');
    expect(find('button', 'Use this model').getAttribute('aria-disabled')).toBe('true');
    write(find('textbox', 'Contents of config.json'), '{}');
    await settle();
    expect(importConfig).toHaveBeenCalledWith('{}');
    expect(text()).toContain(`${imported.label}: `);
    expect(text()).toContain(imported.used.join(''));
    find('button', 'Use this model')
        .closest('form')
        ?.dispatchEvent(new Event('submit', { cancelable: true }));
    expect(use).toHaveBeenCalledWith(imported);
});

test('a config that is none says why, and cannot be used', async () => {
    const refused = refusalOf('import-unsupported') as Extract<Imported, { ok: false }>;
    const { find, text, use } = shown(refused, '{"model_type": "x"}');
    await settle();
    expect(text()).toContain(`It cannot be used because of ${refused.problems.length} problems`);
    expect(find('textbox').getAttribute('aria-invalid')).toBe('true');
    find('button', 'Use this model')
        .closest('form')
        ?.dispatchEvent(new Event('submit', { cancelable: true }));
    expect(use).not.toHaveBeenCalled();
});

test('what was assumed for a key is said with its reason', async () => {
    const latent = goodOf('import_config', 'import-latent');
    const { text } = shown(latent, '{}');
    await settle();
    for (const { key } of latent.assumed) expect(text()).toContain(`${key}: `);
});

test('closing it is told', () => {
    const { close, find, one } = shown(imported);
    expect(one<HTMLDialogElement>('dialog').open).toBe(true);
    tap(find('button', 'Cancel'));
    expect(close).toHaveBeenCalledTimes(1);
});
