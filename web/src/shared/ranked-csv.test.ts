import { expect, test } from 'vitest';
import { rows } from '../store/ranked';
import { rankedCsv } from './ranked-csv';
import { catalog, goodOf } from './test-data';

const ranked = goodOf('rank', 'rank-70b');

test('a line a plan, every column, units in the head', () => {
    const lines = rankedCsv(catalog, ranked).split('\r\n');
    expect(lines.at(-1)).toBe('');
    expect(lines).toHaveLength(rows(ranked) + 2);
    const head = lines[0]?.split(',') ?? [];
    expect(head).toHaveLength(Object.keys(ranked.plans).length + 1);
    for (const name of ['rank', 'tensor_parallel [gpus]', 'micro_batch [sequences]', 'step_seconds', 'whole_bytes'])
        expect(head).toContain(name);
    const first = lines[1]?.split(',') ?? [];
    expect(first[0]).toBe('1');
    expect(first[head.indexOf('step_seconds')]).toBe(String(ranked.plans.step_seconds?.[0]));
    expect(rankedCsv(catalog, ranked, 1).split('\r\n')).toHaveLength(3);
});

test('a cell with a comma, a quotation mark or a line end is quoted', () => {
    const plans = { ...ranked.plans, step_seconds: [1], layout: ['Et*2|t,"x"\n'] } as typeof ranked.plans;
    expect(rankedCsv(catalog, { ...ranked, plans })).toContain(',"Et*2|t,""x""\n"');
});
