import { expect, test } from 'vitest';
import type { Pooled } from '../core/api';
import { format } from '../format/format';
import { catalog, goodOf, refusalOf } from '../shared/test-data';
import { plain, show } from '../shared/test-view';
import { Outcome } from './result';

const both: Pooled = goodOf('pools', 'pools-70b');
const shown = (answer: Parameters<typeof Outcome>[0]['answer']) => show(<Outcome answer={answer} catalog={catalog} />);

test('who does what, every way, and what one kind alone takes', () => {
    const { all, text } = shown(both);
    expect(all('table')).toHaveLength(2);
    expect(all('row')).toHaveLength(2 + (both.ways[0]?.shares.length ?? 0) + both.ways.length);
    expect(text()).toContain('64 × A100 SXM 80 GB');
    expect(text()).toContain('The fastest kind alone takes');
    expect(text()).toContain('No published run covers this');
});

test('the layers of the stages, who does nothing, and where one kind alone costs less', () => {
    expect(both.ways[0]?.way).toBe('stages');
    expect(shown(both).text()).toContain(String(both.ways[0]?.plan.layout));
    const [first] = both.pools;
    if (!first) throw new Error('no pool');
    expect(shown({ ...both, pools: [...both.pools, first] }).text()).toContain('would not make it faster');
    expect(shown(both).text()).toContain('The cheapest is one kind alone');
});

test('money has the currency of the price, memory is of the whole card', () => {
    const own: Pooled = { ...both, job: { ...both.job, price_per_gpu_hour: 2.5 } };
    const cost = plain(format.dollars(both.ways[0]?.cost ?? 0));
    expect(shown(both).text()).toContain(cost);
    expect(shown(own).text()).not.toContain('$');
    expect(shown(own).text()).toContain('Every GPU is counted at the one price that you gave.');
    for (const { pool, whole_bytes } of both.ways[0]?.shares ?? [])
        expect(shown(both).text()).toContain(plain(format.percent(whole_bytes / (both.pools[pool]?.card_bytes ?? 1))));
    expect(shown({ ...both, ways: both.ways.map((way) => ({ ...way, cost: null })) }).text()).toContain('–');
});

test('where one kind alone is the fastest, or nothing fits, it says so; mistakes are told', () => {
    const alone = both.ways.filter(({ way }) => way === 'alone');
    expect(shown({ ...both, pools: both.pools.slice(0, 1), ways: alone.slice(-1) }).text()).toContain('All of them are of one kind');
    expect(shown({ ...both, ways: alone }).text()).toContain('The other GPUs do not help.');
    expect(shown({ ...both, ways: [] }).text()).toContain('No plan fits');
    expect(shown({ ...both, ways: both.ways.filter(({ way }) => way !== 'alone') }).text()).toContain('No kind of GPU can do it alone.');
    expect(shown(refusalOf('pools-bad')).text()).toContain('Further pool 1: number of GPUs');
});
