import { expect, test } from 'vitest';
import { catalog } from '../shared/test-data';
import { configAddress, configPage, repositoryOf } from './hub-id';

test.each([
    ['Qwen/Qwen3-8B', 'Qwen/Qwen3-8B'],
    ['  meta-llama/Llama-3.1-8B \n', 'meta-llama/Llama-3.1-8B'],
    ['https://huggingface.co/Qwen/Qwen3-8B', 'Qwen/Qwen3-8B'],
    ['http://www.huggingface.co/Qwen/Qwen3-8B/', 'Qwen/Qwen3-8B'],
    ['huggingface.co/Qwen/Qwen3-8B?library=transformers', 'Qwen/Qwen3-8B'],
    ['https://hf.co/Qwen/Qwen3-8B#usage', 'Qwen/Qwen3-8B'],
    ['https://huggingface.co/Qwen/Qwen3-8B/blob/main/config.json', 'Qwen/Qwen3-8B'],
    ['https://huggingface.co/Qwen/Qwen3-8B/resolve/main/config.json?download=true', 'Qwen/Qwen3-8B'],
])('%j is the id of a repository', (typed, id) => {
    expect(repositoryOf(typed)).toBe(id);
});

test.each([
    '',
    'llama',
    'gpt2/',
    '/gpt2',
    'a/b/c',
    './run.sh',
    '../x/y',
    'Qwen/Qwen3 8B',
    'torchrun x/y.py',
    '{"a": "b/c"}',
    'a--b/c',
    'a/b..c',
    'a/-b',
    'a/b.',
    `a/${'b'.repeat(95)}`, // 97 characters
    'https://huggingface.co/Qwen',
    'https://huggingface.co/datasets/allenai/c4',
    'https://huggingface.co/spaces/nanotron/ultrascale-playbook',
    'https://huggingface.co/docs/hub',
    'https://huggingface.co.example.org/Qwen/Qwen3-8B',
    'https://example.org/Qwen/Qwen3-8B',
    'https://user@huggingface.co/Qwen/Qwen3-8B',
    'a/b\nc/d',
])('%j is none', (typed) => {
    expect(repositoryOf(typed)).toBe(null);
});

test('96 characters are the most', () => {
    expect(repositoryOf(`a/${'b'.repeat(94)}`)).toHaveLength(96);
});

test('what the catalogue says of its models is read as it stands', () => {
    const onHub = catalog.models.map(({ repository }) => repository).filter((one) => one !== ''); // a paper's model has none
    expect(onHub.length).toBeGreaterThan(20);
    expect(onHub.map(repositoryOf)).toEqual(onHub);
});

test('its file: where it is fetched, and where it is looked at', () => {
    expect(configAddress('Qwen/Qwen3-8B')).toBe('https://huggingface.co/Qwen/Qwen3-8B/resolve/main/config.json');
    expect(configPage('Qwen/Qwen3-8B')).toBe('https://huggingface.co/Qwen/Qwen3-8B/blob/main/config.json');
});
