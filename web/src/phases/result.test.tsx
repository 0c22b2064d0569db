import { expect, test } from 'vitest';
import { catalog, goodOf, refusalOf } from '../shared/test-data';
import { show } from '../shared/test-view';
import { Outcome } from './result';

test('each phase has a row, and mistakes are told', () => {
    const run = goodOf('phases', 'phases-70b');
    expect(show(<Outcome answer={run} catalog={catalog} />).all('row')).toHaveLength(1 + run.phases.length);
    expect(show(<Outcome answer={refusalOf('phases-bad')} catalog={catalog} />).text()).toContain('phases[1]');
});
