import { expect, test } from 'vitest';
import { format } from '../format/format';
import { catalog, heatOf, pageOf, searchedPage } from '../shared/test-data';
import { cellsOf, plain, show, spies, tap } from '../shared/test-view';
import { allAuto } from '../state/state';
import type { Page } from '../store/page';
import { Sweep } from './sweep';

function shown(changes: Partial<Page> = {}) {
    const act = spies();
    const page = searchedPage(changes);
    return { act, page, ...show(<Sweep page={page} act={act} />) };
}

test('what every number of GPUs brings, by its fastest plan', () => {
    const { one, page } = shown();
    const [head, ...rows] = cellsOf(one('table'));
    const { sizes } = heatOf().summary;
    expect(head?.[0]).toBe('GPUs');
    expect(rows.map(([gpus]) => gpus)).toEqual(sizes.map(({ gpus }) => format.count(gpus)));
    sizes.forEach(({ entry, efficiency, run }, i) => {
        if (entry === null) return;
        expect(rows[i]?.[2]).toBe(plain(format.duration(page.heat?.columns.step_seconds[entry] ?? 0)));
        expect(rows[i]?.[4]).toBe(plain(format.percent(efficiency ?? 0)));
        expect(rows[i]?.at(-1)).toBe(format.rounded(run?.gpu_hours ?? 0)); // its card has no list price
    });
});

test('a GPU is measured against where it does the most, not where a plan barely fits', () => {
    const heat = heatOf();
    const fitting = heat.summary.sizes.filter(({ entry }) => entry !== null).slice(0, 2);
    const sizes = fitting.map((size, i) => ({ ...size, efficiency: [1, 5][i] ?? 0 }));
    const { one, text } = shown({ heat: { ...heat, summary: { ...heat.summary, sizes } } });
    const shares = cellsOf(one('table')).map((cells) => cells[4]);
    expect(shares.slice(1)).toEqual([0.2, 1].map((share) => plain(format.percent(share))));
    const [least, most] = sizes.map(({ gpus }) => format.count(gpus));
    expect(text()).toContain(plain(`On ${least} GPUs, each GPU does ${format.percent(0.2)} of the work that it does on ${most}.`));
});

test('why more GPUs are not faster, as the core tells it', () => {
    const heat = heatOf();
    const args = { gpus: 100, fewer: 64, batch: 128, factor: 25, next: 125 };
    const slow = { ...heat, summary: { ...heat.summary, not_faster: { id: 'searched.not_faster', args } } };
    expect(shown({ heat: slow }).text()).toContain('100 GPUs are not faster than 64:');
    expect(shown({ heat: slow }).text()).toContain('A batch of 125 would let them.');
    expect(shown().text()).not.toContain('not faster');
});

test('a tap takes a number of GPUs', () => {
    const { act, all, page } = shown();
    const [first] = all('button');
    tap(first as Element);
    const gpus = page.heat?.summary.sizes.find(({ entry }) => entry !== null)?.gpus;
    expect(act.change).toHaveBeenCalledWith({ gpus, ...allAuto(catalog) }, 'choose');
});

test('a number of GPUs on which nothing fits says so, over all columns', () => {
    const heat = heatOf();
    const [first, ...others] = heat.summary.sizes;
    if (!first) throw new Error('no sizes');
    const none = { tokens: 6, price_per_gpu_hour: null, watts_per_gpu: null, energy_kwh: null, co2_kg: null };
    const run = { steps: 1, days: 2, low_days: 1, high_days: 3, gpu_hours: 4, ...none, cost: 5 };
    const sizes = [{ ...first, entry: null, efficiency: null }, ...others.map((size) => ({ ...size, run }))];
    const { one } = shown({ heat: { ...heat, summary: { ...heat.summary, sizes } } });
    const [head, nothing] = cellsOf(one('table'));
    expect(head).toHaveLength(8);
    expect(nothing).toHaveLength(2);
    expect(one('tbody td').getAttribute('colspan')).toBe('7');
});

test('before the map it is there for links, and one of the run before says so', () => {
    expect(shown({ heat: null }).text()).toBe('How many GPUs? The plans are being computed…');
    expect(shown({ heat: null, problems: pageOf('broken-rules').problems }).text()).toContain('as soon as the run above is clear');
    expect(shown({ heatStale: true }).one('#gpus').classList).toContain('stale');
});
