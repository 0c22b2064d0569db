import { expect, test } from 'vitest';
import { wholePlan } from '../shared/plan-words';
import { answeredOf } from '../shared/test-data';
import { plain, show } from '../shared/test-view';
import { Terms, Why } from './why';

const { page, answer } = answeredOf();
const estimate = () => new Promise<never>(() => {});

test('the plan in the terms of the field', () => {
    expect(show(<Terms page={page} answer={answer} />).text()).toBe(plain(wholePlan(page.catalog, answer.job, answer.data_parallel)));
});

test('why this plan: of what is chosen, what the search compared; of what is one’s own, nothing more', () => {
    const chosen = show(<Why page={page} answer={answer} estimate={estimate} />);
    expect(chosen.text()).toContain('A search compares all plans');
    expect(chosen.find('link').getAttribute('href')).toBe('#best');
    const set = Object.fromEntries(
        Object.entries(page.job).map(([key, value]) => [key, value === 'auto' ? answer.job[key as 'gpus'] : value]),
    );
    expect(show(<Why page={{ ...page, job: set }} answer={answer} estimate={estimate} />).names('link')).toEqual([]);
});

test('of equally fast plans, by what the first is chosen: as the search orders them', () => {
    const tied = { ...answer, equally_good: { ...answer.equally_good, count: 2 } };
    const { text } = show(<Why page={page} answer={tied} estimate={estimate} />);
    expect(text()).toContain('the fewest context-parallel ranks; among equals, the least recomputation, then the smallest split.');
    expect(text(), 'is in the time').not.toContain('between nodes');
});
