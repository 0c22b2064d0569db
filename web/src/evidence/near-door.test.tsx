import { expect, test } from 'vitest';
import { pageOf } from '../shared/test-data';
import { fresh, show } from '../shared/test-view';

test('a link to the evidence stands there until the runs have come', { timeout: 20_000 }, async () => {
    const { NearRuns } = await fresh(() => import('./near-door'));
    const { find, text } = show(<NearRuns page={pageOf()} />);
    expect(find('link', 'Measured runs like this one').getAttribute('href')).toBe('#evidence');
    await expect.poll(text, { timeout: 15_000 }).toMatch(/ measured runs like this one tell the time of a step: /);
});
