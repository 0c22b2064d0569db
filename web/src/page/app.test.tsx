import { expect, test, vi } from 'vitest';
import { answered, goodOf, heatOf, pageOf, rankedPage } from '../shared/test-data';
import { settle, show, spies, textOf } from '../shared/test-view';
import type { Page } from '../store/page';
import { App } from './app';

function given(page: Page) {
    const never = () => new Promise<never>(() => {});
    const prover = { estimate: never, stop: () => {}, end: () => {} };
    return {
        page,
        act: spies(),
        asks: { importConfig: never, exportPlan: never, estimate: never, alternatives: never, rank: never },
        timeline: never,
        calibrate: never,
        placing: { measure: never, placers: [], exportPlan: never },
        prover,
        market: prover,
        phaser,
    };
}
const shown = (page: Page) => show(<App {...given(page)} />);
// What a reader can follow or an ear is sent to must be there.
function leadsNowhere(box: Element): string[] {
    const ids = [...box.querySelectorAll('[aria-labelledby], [aria-describedby], [aria-controls], label[for]')].flatMap((one) =>
        ['aria-labelledby', 'aria-describedby', 'aria-controls', 'for'].flatMap((name) => one.getAttribute(name)?.split(' ') ?? []),
    );
    const links = [...box.querySelectorAll('a[href^="#"]')].map((one) => one.getAttribute('href')?.slice(1) ?? '');
    return [...ids, ...links].filter((id) => id !== '' && !box.querySelector(`#${CSS.escape(id)}`));
}
const phaser = { phases: vi.fn(), pools: vi.fn(), stop: vi.fn() };
const twice = (box: Element): string[] => {
    const ids = [...box.querySelectorAll('[id]')].map(({ id }) => id);
    return ids.filter((id, i) => ids.indexOf(id) !== i);
};

test('the whole page before its plans: every section has its heading and every link leads somewhere', async () => {
    const { box, names } = shown(pageOf('default', { depth: 'detail' }));
    await expect.poll(() => names('heading')).toContain('All plans, by number of GPUs');
    expect(names('heading')).toContain('How it works');
    expect([leadsNowhere(box), twice(box)]).toEqual([[], []]);
});

test('the first screen: nothing twice, and what it leads to is in every detail', async () => {
    const plain = shown(pageOf());
    const all = shown(pageOf('default', { depth: 'detail' }));
    await expect.poll(() => all.names('region')).toContain('What fills it');
    expect(plain.names('region')).not.toContain('What fills it');
    expect(plain.names('navigation')).toContain('More answers');
    expect(twice(plain.box)).toEqual([]);
    const ways = leadsNowhere(plain.box);
    expect(ways).toContain('limits');
    expect(ways.filter((id) => !all.box.querySelector(`#${CSS.escape(id)}`))).toEqual([]);
});

test('and with all of them', async () => {
    const { ranking } = rankedPage();
    const limits = goodOf('limits', 'limits-70b');
    const alternatives = goodOf('alternatives', 'alternatives-70b');
    const page = pageOf('llama-70b-64-h100', { heat: heatOf(), ranking, limits, alternatives, pasting: { text: '' }, depth: 'detail' });
    const { all, box } = shown(page);
    await expect.poll(() => all('grid').length).toBe(1);
    await settle();
    expect([leadsNowhere(box), twice(box)]).toEqual([[], []]);
});

test('a run with problems keeps the last answer, and says that it is one', async () => {
    const { box, one } = shown(pageOf('bad-request', { depth: 'detail' }));
    expect(textOf(one('.stale-mark'))).toBe('From the last run that could be computed');
    await expect.poll(() => leadsNowhere(box)).toEqual([]); // what is wrong comes in a file of its own
});

test('no answer and no problem yet: the question alone', () => {
    const { names } = shown(pageOf('default', { answer: null }));
    expect(names('region')).not.toContain('What fills it');
    expect(names('form')).toContain('The training run');
});

// The answer of a link waits for them, and for no others.
test('the words that come first are all that the first screen says', async () => {
    vi.resetModules();
    const { fetchWords, isSaid } = await import('../words/words');
    await fetchWords('first');
    expect([isSaid('answer.fits'), isSaid('item.weights')]).toEqual([true, false]);
    const fresh = await import('./app');
    for (const name of answered()) {
        const page = pageOf(name);
        const alternatives = goodOf('alternatives', 'alternatives-70b');
        const of = page.answer && { ...alternatives, job: page.answer.job };
        for (const depth of ['plain', 'detail'] as const) {
            const { box, text } = show(<fresh.App {...given({ ...page, depth, alternatives: of })} />);
            const labels = [...box.querySelectorAll('[aria-label]')].map((one) => one.getAttribute('aria-label'));
            const said = [text(), ...labels].join(' ');
            expect(said.match(/\b[a-z_]+(\.[a-z_0-9]{3,})+\b/g), `${name}, ${depth}`).toBe(null);
        }
    }
    vi.resetModules();
});
