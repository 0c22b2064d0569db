import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Estimate, JobRefusal, JobRequest } from '../core/api';
import { answeredOf, catalog, pageOf } from '../shared/test-data';
import { cellsOf, later, show, tap, write } from '../shared/test-view';
import { Cards } from './cards';

const { page, answer } = answeredOf();
const refused: JobRefusal = { ok: false, version: 2, problems: pageOf('bad-request').problems, job: null };
const asker = (estimate: (request: JobRequest) => Promise<Estimate | JobRefusal>) => ({
    estimate: vi.fn(estimate),
    stop: vi.fn(),
    end: vi.fn(),
});

// Where nothing can tell whether it is on the screen, it is taken to be.
beforeEach(() => vi.stubGlobal('IntersectionObserver', undefined));
afterEach(() => vi.unstubAllGlobals());

test('days and money of every card, each a link to its run', async () => {
    vi.useFakeTimers();
    const { all, find, text } = show(<Cards page={page} asker={asker(async () => answer)} />);
    await later(1000);
    expect(all('row')).toHaveLength(1 + catalog.gpus.length);
    expect(find('link', 'A100 SXM 40 GB').getAttribute('href')).toContain('gpu=a100-sxm-40gb');
    history.replaceState(null, '', '?depth=detail');
    const seen = show(<Cards page={page} asker={asker(async () => answer)} />);
    await later(1000);
    expect(seen.find('link', 'A100 SXM 40 GB').getAttribute('href')).toContain('&depth=detail');
    history.replaceState(null, '', '?');
    expect(text()).toContain('The cheapest that is done in 60 days: ');
    expect(text()).toContain('“Unbeaten”: no other is both sooner done and cheaper.');
    const notes = cellsOf(find('table')).map((cells) => cells[4]);
    expect(notes).toContain('unbeaten'); // one word: the column is narrow on a phone
    expect(text()).toContain('Tried: 1 to 64 of each GPU.');
    write(find('textbox', 'Days in which the training should be done'), '1');
    expect(text()).toContain('The cheapest that is done in 1 days: None of these.');
    expect(location.search).toBe('?cards=1_5000000');
    expect(show(<Cards page={page} asker={asker(async () => answer)} />).text(), 'a link has both').not.toContain('in 60 days');
    write(find('textbox', 'Dollars that the training may cost'), 'much');
    expect(text()).toContain('Enter a number above 0, for example 30.');
    write(find('textbox', 'Dollars that the training may cost'), '$5M');
    expect(text()).not.toContain('Enter a number');
    write(find('textbox', 'Dollars that the training may cost'), '0');
    expect(text()).toContain('Enter a number above 0, for example 30.');
    history.replaceState(null, '', '?');
});

test('on what is no number of GPUs nothing is tried', () => {
    const unclear = show(<Cards page={{ ...page, job: { ...page.job, gpus: 'many' } }} asker={asker(async () => answer)} />);
    expect(unclear.text()).toBe('On other GPUs The plans appear here as soon as the run above is clear.');
});

test('list prices are compared, whatever the reader pays for one GPU; its link keeps that price', async () => {
    vi.useFakeTimers();
    const own = { ...page, job: { ...page.job, price_per_gpu_hour: 2 } };
    const prices: unknown[] = [];
    const { find, text } = show(
        <Cards
            page={own}
            asker={asker(async (request) => {
                prices.push(request.price_per_gpu_hour);
                return answer;
            })}
        />,
    );
    expect(text()).toContain('The price that you gave for H100 SXM 80 GB is not used here.');
    await later(1000);
    expect(new Set(prices)).toEqual(new Set(['auto']));
    expect(cellsOf(find('table')).filter((cells) => cells[2]?.includes('$'))).toHaveLength(catalog.gpus.length);
    expect(find('link', 'H100 SXM 80 GB').getAttribute('href')).toContain('price=2');
});

test('a price that nobody offers publicly is called assumed, in the table and where it is the cheapest', async () => {
    vi.useFakeTimers();
    const cheap = (cost: number): Estimate => ({
        ...answer,
        time: { ...answer.time, run: answer.time.run && { ...answer.time.run, days: 30, cost } },
    });
    const { find, text } = show(<Cards page={page} asker={asker(async ({ gpu }) => cheap(gpu === 'h800-sxm-80gb' ? 1000 : 2000))} />);
    await later(1000);
    expect(text()).toMatch(/The cheapest that is done in 60 days: \d+ × H800 SXM 80 GB[^.]*\$1,000 \(assumed\)/);
    expect(cellsOf(find('table')).filter((cells) => cells[2]?.includes('assumed'))).toHaveLength(1);
});

test('what does not fit or cannot be says so, and the work can be stopped', async () => {
    vi.useFakeTimers();
    let asked = 0;
    const own = asker(() => {
        asked += 1;
        if (asked === 1) return Promise.resolve(refused);
        if (asked === 2) return Promise.resolve({ ...answer, class: 'does_not_fit' as const });
        if (asked === 3) return Promise.resolve({ ...answer, class: 'at_risk' as const });
        return new Promise<never>(() => {});
    });
    const { find, text, names } = show(<Cards page={page} asker={own} />);
    await later(1000);
    expect(text()).toContain('There is no model “lama-3.1-8b” here.');
    expect(text()).toContain('Does not fit: it would need');
    expect(text()).toContain('At risk: it would need');
    tap(find('button', 'Stop'));
    expect(own.stop).toHaveBeenCalledTimes(1);
    expect(names('button')).toContain('Continue');
});

test('sorted by any column, by a press or a key; what has no number there comes last', async () => {
    vi.useFakeTimers();
    const run = answer.time.run;
    if (!run) throw new Error('no run');
    // Days fall, money and memory rise along the catalogue; the second fits nowhere, the third has no price.
    let asked = 0;
    const own = asker(async () => {
        asked += 1;
        const cost = asked === 3 ? null : asked;
        const one = { ...answer, whole_bytes: asked * 2 ** 30, time: { ...answer.time, run: { ...run, days: 1000 - asked, cost } } };
        return asked === 2 ? { ...one, class: 'does_not_fit' as const } : one;
    });
    const { find } = show(<Cards page={page} asker={own} />);
    await later(1000);
    const gpus = () =>
        cellsOf(find('table'))
            .slice(1)
            .map(([name]) => name);
    const start = gpus();
    const turned = [...start].reverse();
    const without =
        (...names: (string | undefined)[]) =>
        (list: (string | undefined)[]) =>
            list.filter((name) => !names.includes(name));
    const [, misfit, priceless] = start;
    expect([...find('table').querySelectorAll('thead th')].map((one) => one.getAttribute('aria-sort'))).toEqual([
        'none',
        'none',
        'none',
        'none',
        null,
    ]);
    tap(find('button', 'Time'));
    expect(gpus()).toEqual([...without(misfit)(turned), misfit]);
    expect(find('columnheader', 'Time').getAttribute('aria-sort')).toBe('ascending');
    tap(find('button', 'Time'));
    expect(gpus()).toEqual([...without(misfit)(start), misfit]);
    expect(find('columnheader', 'Time').getAttribute('aria-sort')).toBe('descending');
    tap(find('button', 'Cost'));
    expect(gpus()).toEqual([...without(misfit, priceless)(start), misfit, priceless]);
    tap(find('button', 'GB used'));
    expect(gpus()).toEqual([...without(misfit)(start), misfit]);
    tap(find('button', 'GPU'));
    expect(gpus()).toEqual([...start].sort((a, b) => (a ?? '').localeCompare(b ?? '', undefined, { numeric: true })));
});
