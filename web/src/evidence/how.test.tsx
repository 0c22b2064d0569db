import { expect, test, vi } from 'vitest';
import { catalog, pageOf } from '../shared/test-data';
import { settle, show, tap, unfold } from '../shared/test-view';
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

test('what was measured, and how often the range held, stands under “Evidence” alone', () => {
    const { text } = show(<How page={pageOf()} />);
    expect(text()).not.toMatch(/Nine of ten measured|[\d,]+ runs of|not been checked/);
    expect(text()).toContain('is meant to hold nine of ten runs; “Evidence” tells how many');
});

test('a model of one’s own has no source', () => {
    const { all } = show(<How page={pageOf('custom-model')} />);
    expect(all('link').length).toBeGreaterThan(0);
});

test('the citation is copied as it stands there', async () => {
    const copied = vi.spyOn(navigator.clipboard, 'writeText').mockImplementation(async () => {});
    const { box: page, find } = show(<How page={pageOf()} />);
    const box = unfold(page, 'Cite Fourfold');
    await settle();
    const shown = box.querySelector('pre')?.textContent ?? '';
    expect(shown).toContain('2405.18093');
    tap(find('button', 'Copy BibTeX'));
    await vi.waitFor(() => expect(copied).toHaveBeenCalledWith(shown));
    vi.restoreAllMocks();
});
