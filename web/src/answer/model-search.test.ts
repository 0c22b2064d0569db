import { expect, test } from 'vitest';
import { catalog } from '../shared/test-data';
import { search } from './model-search';

const ids = (typed: string): string[] => search(catalog.models, typed).map(({ id }) => id);

// The core finds the same by the same words: tests/formats/find_models_test.cpp.
test.each([
    ['llama 3.1 70b', ['llama-3.1-70b']],
    ['70b 3.1 llama', ['llama-3.1-70b']],
    ['meta-llama/Llama-3.1-70B', ['llama-3.1-70b']],
    ['qwen 235', ['qwen3-235b-a22b']],
    ['235 QWEN', ['qwen3-235b-a22b']],
    ['mistralai', ['mistral-7b', 'mistral-large-2', 'mixtral-8x7b']],
    ['mixtral 7b', ['mixtral-8x7b']],
    ['llama2 7b', ['llama-2-7b']],
    ['gptoss', ['gpt-oss-120b', 'gpt-oss-20b']],
    ['ｌｌａｍａ ４０５', ['llama-3.1-405b']],
    ['k2', ['kimi-k2']],
    ['llama banana', []],
    ['olmo 3 32', []], // OLMo 3 is not among them, and "3" is not "32b"
    ['olmo 2 3', ['olmo-2-32b']],
    ['llama 3 70', ['llama-3-70b', 'llama-3.1-70b', 'llama-3.3-70b']],
    ['llama3 70', ['llama-3-70b', 'llama-3.1-70b', 'llama-3.3-70b']],
    ['qwen 3 32', ['qwen3-32b']],
    ['qwen3 235', ['qwen3-235b-a22b']],
    ['llama 3.1 8', ['llama-3.1-8b']],
    ['llama 3.1 40', ['llama-3.1-405b']],
])('%s', (typed, expected) => {
    expect(ids(typed).sort()).toEqual(expected);
});

test.each([
    ['instruct llama 8b', 'llama 8b'],
    ['llama 8b inst', 'llama 8b'],
    ['Llama-3.1-8B-Instruct', 'llama 3.1 8b'],
    ['Llama-3.3-70B', 'Llama-3.3-70B-Instruct'],
    ['qwen2.5 7b chat', 'qwen2.5 7b'],
    ['gemma-3-27b-it', 'gemma 3 27b'],
    ['mistral 7b base hf', 'mistral 7b'],
])('words that say how a model was tuned hinder nothing: %s is %s', (typed, bare) => {
    expect(ids(typed)).toEqual(ids(bare));
    expect(ids(typed)).not.toEqual([]);
});

test('such a word alone is searched for', () => {
    expect(ids('instruct')).toContain('llama-3.3-70b');
    expect(ids('instruct')).not.toContain('gpt-oss-20b');
});

test('a size is a size, not the end of another one', () => {
    expect(ids('7b')).not.toContain('gemma-2-27b');
    expect(ids('7b')).toContain('llama-2-7b');
    expect(ids('')).toHaveLength(catalog.models.length);
});

test('a size that is whole comes before those that it begins', () => {
    expect(ids('llama 7').slice(0, 2)).toEqual(['llama-2-7b', 'llama-3.3-70b']);
});

test('the newest of a family comes first', () => {
    expect(ids('llama 70b')).toEqual(['llama-3.3-70b', 'llama-3.1-70b', 'llama-3-70b', 'llama-2-70b']);
    expect(ids('qwen3 30b')[0]).toBe('qwen3-30b-a3b');
    expect(ids('qwen3')[0]).toMatch(/^qwen3-/);
    expect(ids('qwen')[0]).toBe('qwen3.5-27b');
    expect(ids('deepseek')[0]).toBe('deepseek-v3');
    expect(ids('llama')[0], 'not LLaMA 65B: that number is a size').toBe('llama-4-maverick');
    expect(ids('llama').indexOf('llama-65b')).toBeGreaterThan(ids('llama').indexOf('llama-2-7b'));
    expect(ids('gpt-oss')).toEqual(['gpt-oss-120b', 'gpt-oss-20b']);
    expect(ids('')).toEqual(catalog.models.map(({ id }) => id));
});

test('what is called exactly as typed comes before what goes on behind it', () => {
    expect(ids('llama 3 8b')[0]).toBe('llama-3-8b');
    expect(ids('70b 3 llama')[0]).toBe('llama-3-70b');
});

test('name and size may be one word', () => {
    expect(ids('llama70b').sort()).toEqual(ids('llama 70b').sort());
    expect(ids('gemma27b')).toEqual(ids('gemma 27b'));
    expect(ids('qwen3')).not.toContain('qwen2.5-32b');
});

test('the first of what was asked for, in any order', () => {
    const rows = { '70b llama': 'llama-3.3-70b', 'qwen 235': 'qwen3-235b-a22b', 'v3 deepseek': 'deepseek-v3', '27b gemma': 'gemma-3-27b' };
    for (const [typed, first] of Object.entries(rows)) expect(ids(typed)[0], typed).toBe(first);
});

test('beside a name with a size alone, as the core knows some, the newest version comes first', () => {
    const model = (label: string) => ({ id: label.toLowerCase().replaceAll(' ', '-'), label, repository: '' });
    const gemmas = ['Gemma 7B', 'Gemma 3 12B', 'Gemma 3 27B', 'Gemma 2 9B', 'Gemma 2B'].map(model);
    expect(search(gemmas, 'gemma').map(({ label }) => label)).toEqual(['Gemma 3 12B', 'Gemma 3 27B', 'Gemma 2 9B', 'Gemma 7B', 'Gemma 2B']);
});
