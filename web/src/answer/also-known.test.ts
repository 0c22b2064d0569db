import { expect, test, vi } from 'vitest';
import { catalog, goodOf } from '../shared/test-data';
import { defaults, withConfig } from '../state/state';
import { alsoKnown, withKnown } from './also-known';

const asked = vi.hoisted(() => vi.fn());
vi.mock('../formats/reader', () => ({ findModels: asked }));

test('the core is asked with what was typed, and its models have a title', async () => {
    const found = goodOf('find_models', 'find-models');
    asked.mockResolvedValue(found);
    expect(await alsoKnown(' ｇｅｍｍａ ２ｂ ')).toEqual({
        title: 'More models:',
        said: 'More models: Gemma 2B, Gemma 2 2B',
        near: false,
        vague: false,
        models: found.models,
    });
    await alsoKnown('instruct gemma 2b');
    expect(asked.mock.calls).toEqual([[{ words: 'gemma 2b' }], [{ words: 'gemma 2b' }]]);
});

test('where a number only begins a longer one, no model is called so', async () => {
    const { models } = goodOf('find_models', 'find-models');
    asked.mockResolvedValue({ ok: true, version: 2, match: 'words', models });
    expect((await alsoKnown('gemma 2')).title).toBe('More models:');
    const [gemma] = models;
    const long = { ...gemma, id: 'gpt-3-40b', label: 'GPT-3 40B', repository: '', names: [] };
    asked.mockResolvedValue({ ok: true, version: 2, match: 'words', models: [long] });
    expect(await alsoKnown('gpt-4')).toMatchObject({ title: 'None is called “gpt-4”. Similar names:', vague: true });
    const size = { ...long, id: 'gpt3-5b', label: 'GPT-3 5B' };
    asked.mockResolvedValue({ ok: true, version: 2, match: 'words', models: [size] });
    expect(await alsoKnown('gpt-5'), 'a size is no version').toMatchObject({ title: 'Did you mean:', vague: true });
    for (const typed of ['gpt-3 5', 'gpt 3', 'gpt 5b']) expect((await alsoKnown(typed)).vague, typed).toBe(false);
    asked.mockResolvedValue({ ok: true, version: 2, match: 'words', models: [{ ...size, id: 'llama-3.1-405b', label: 'Llama 3.1 405B' }] });
    for (const typed of ['405', 'llama 405']) expect((await alsoKnown(typed)).vague, typed).toBe(false);
});

test('one that is spelled alike says so; none, and a refusal, say nothing', async () => {
    const { models, version } = goodOf('find_models', 'find-models');
    asked.mockResolvedValue({ ok: true, version, match: 'near', models: models.slice(0, 1) });
    expect(await alsoKnown('gema')).toMatchObject({ title: 'Did you mean:', said: 'Did you mean: Gemma 2B', near: true });
    asked.mockResolvedValue({ ok: true, version, match: 'none', models: [] });
    expect(await alsoKnown('delphi')).toMatchObject({ title: '', said: '', models: [] });
    asked.mockResolvedValue({ ok: false, version, problems: [] });
    expect(await alsoKnown('delphi')).toMatchObject({ said: '', models: [] });
});

test('LoRA is no model: alone, where it is set is said; beside the words of a model, it is set with that model', async () => {
    asked.mockReset();
    const title = 'LoRA is not a model. Choose the model, then “What is trained” in “Every detail”.';
    for (const typed of ['lora', 'QLoRA', ' adapter '])
        expect(await alsoKnown(typed)).toMatchObject({ title, said: title, near: false, models: [] });
    expect(asked).not.toHaveBeenCalled();
    const found = goodOf('find_models', 'find-models');
    asked.mockResolvedValue(found);
    const tuned = await alsoKnown('gemma 2b-lora');
    expect(tuned).toMatchObject({
        title: 'More models:',
        said: 'More models: Gemma 2B (LoRA), Gemma 2 2B (LoRA)',
        sets: { trained: 'lora' },
    });
    expect(tuned.models.map(({ model }) => model)).toEqual(found.models.map(({ model }) => model));
    expect(asked.mock.calls).toEqual([[{ words: 'gemma 2b' }]]);
    await alsoKnown('LoRA fine-tuning of gemma 2b');
    expect(asked).toHaveBeenLastCalledWith({ words: 'gemma 2b' });
    const llamas = ['2', '3', '3.3'].map((version) => ({ ...found.models[0], id: version, label: `Llama ${version} 70B`, repository: '' }));
    asked.mockResolvedValueOnce({ ...found, models: llamas });
    expect(
        (await alsoKnown('llama 70b lora')).models.map(({ id }) => id),
        'the newest first, as without LoRA',
    ).toEqual(['3.3', '3', '2']);
    expect((await alsoKnown('QLoRA gemma 2b')).sets).toEqual({ trained: 'lora', frozen_weights: 'nf4' });
    expect(await alsoKnown('floral')).not.toHaveProperty('sets');
    expect(asked).toHaveBeenLastCalledWith({ words: 'floral' });
});

test('a job with a model by another name gets that model; any other stays as it is', async () => {
    const job = defaults(catalog);
    const found = goodOf('find_models', 'find-models');
    const [gemma] = found.models;
    if (typeof gemma?.model !== 'object') throw new Error('a config was expected');
    asked.mockResolvedValue(found);
    expect(await withKnown({ ...job, model: 'gemma-2b' })).toEqual(withConfig(job, gemma.model));
    asked.mockResolvedValue(goodOf('find_models', 'find-models-mirror'));
    expect(await withKnown({ ...job, model: 'unsloth/x' })).toEqual({ ...job, model: 'llama-3.1-8b' });
    asked.mockResolvedValue({ ...found, match: 'words' });
    const vague = { ...job, model: 'gemma' };
    expect(await withKnown(vague)).toBe(vague);
});
