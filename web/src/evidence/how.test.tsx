import { expect, test } from 'vitest';
import { catalog, pageOf } from '../shared/test-data';
import { show } from '../shared/test-view';
import { How } from './how';

test('how it works, what the method does not count, and where the numbers were read', () => {
    const { all, names } = show(<How page={pageOf()} />);
    expect(names('heading')[0]).toBe('How it works');
    expect(names('heading')).toContain('What “Fourfold, every stage” does not count');
    const links = all('link').map((one) => one.getAttribute('href'));
    const gpu = catalog.gpus.find(({ id }) => id === 'h100-sxm-80gb');
    const model = catalog.models.find(({ id }) => id === 'llama-3.1-8b');
    for (const { url } of [...(gpu?.sources ?? []), ...(model?.sources ?? [])]) expect(links).toContain(url);
});

test('a model of one’s own has no source', () => {
    const { all } = show(<How page={pageOf('custom-model')} />);
    expect(all('link').length).toBeGreaterThan(0);
});
