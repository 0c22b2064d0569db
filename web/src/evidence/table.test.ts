import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type EvidenceTable, fitRows, isShown, memoryRows, stacksOf, summaryOf, table, timeRows } from './table';

const file = JSON.parse(readFileSync(new URL('../../../tests/evidence/table.json', import.meta.url), 'utf8'));

const source = { url: 'https://example.org', rows: 3 };
const small: EvidenceTable = {
    sources: {
        good: { ...source, source: 'Good', stack: 'A', standing: 'blind' },
        bad: { ...source, source: 'Bad', stack: 'B', standing: 'fit' },
    },
    time: {
        good: { source: 'good', rows: 30, mean: 0.1, median: 0.1, most: 0.2, inside_band: 1, jobs: 2, regret: 0.01, rule_regret: 0.02 },
        'bad-one': { source: 'bad', rows: 10, mean: 0.5, median: 0.4, most: 2, inside_band: 0.2 },
    },
    verdict: {
        good: { ran: 10, failed: 0, area: 0, fits: 8, fits_ran: 8, does_not_fit: 0, does_not_fit_ran: 0 },
        'bad-one': { ran: 4, failed: 6, area: 0.9, fits: 3, fits_ran: 2, does_not_fit: 5, does_not_fit_ran: 1 },
    },
};

test('the table is the file that README is written from', () => expect(table).toEqual(file));

test('the worst stand first, and what was not measured is no zero', () => {
    expect(timeRows(small).map(({ id, mean, regret }) => [id, mean, regret])).toEqual([
        ['bad-one', 0.5, null],
        ['good', 0.1, 0.01],
    ]);
    expect(fitRows(small).map(({ id, area, fits, doesNotFit }) => ({ id, area, fits, doesNotFit }))).toEqual([
        { id: 'bad-one', area: 0.9, fits: [2, 3], doesNotFit: [1, 5] },
        { id: 'good', area: null, fits: [8, 8], doesNotFit: null },
    ]);
});

test('a family without a source of its name has that of its step times', () => {
    expect(fitRows(small)[0]?.from?.source).toBe('Bad');
});

test('the part on memory is shown as soon as the file has one', () => {
    expect(memoryRows(small)).toEqual([]);
    const memory = { good: { standing: 'blind' as const, rows: 5, mean: 0.01, most: 0.1 }, other: { rows: 2, mean: 0.2, most: 0.3 } };
    expect(memoryRows({ ...small, memory }).map(({ id, from }) => [id, from?.source, from?.standing])).toEqual([
        ['other', undefined, undefined],
        ['good', 'Good', 'blind'],
    ]);
});

test('filters', () => {
    expect(stacksOf(small)).toEqual(['A', 'B']);
    const left = (stack: string, standing: '' | 'fit' | 'seen') =>
        timeRows(small)
            .filter(isShown({ stack, standing }))
            .map(({ id }) => id);
    expect(left('', '')).toHaveLength(2);
    expect(left('A', '')).toEqual(['good']);
    expect(left('', 'fit')).toEqual(['bad-one']);
    expect(left('A', 'seen')).toEqual([]);
});

test('the sum of it', () => {
    const { worst, ...sum } = summaryOf(small);
    expect(worst?.id).toBe('bad-one');
    expect(sum).toEqual({
        families: 2,
        runs: 40,
        middle: 0.3,
        inside: 0.8,
        known: 20,
        fits: 11,
        fitsRan: 10,
        doesNotFit: 5,
        doesNotFitRan: 1,
        blind: 1,
        fitted: 1,
    });
});
