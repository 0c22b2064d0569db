import { expect, test } from 'vitest';
import { fileName } from './save-file';
import { pageOf } from './test-data';

const page = pageOf('llama-70b-64-h100');

test('a file is named by the run', () => {
    expect(fileName(page)).toBe('fourfold-llama-3.1-70b-64-h100-sxm-80gb');
    expect(fileName({ ...page, job: { ...page.job, model: '../a b' } })).toBe('fourfold-..-a-b-64-h100-sxm-80gb');
});
