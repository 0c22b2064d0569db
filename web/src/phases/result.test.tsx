import { expect, test } from 'vitest';
import { catalog, goodOf, refusalOf } from '../shared/test-data';
import { show } from '../shared/test-view';
import { Outcome } from './result';

test('each phase has a row, and mistakes are told', () => {
    const run = goodOf('phases', 'phases-70b');
    expect(show(<Outcome answer={run} catalog={catalog} />).all('row')).toHaveLength(1 + run.phases.length);
    const large = { ...run, total: { ...run.total, energy_kwh: 3_341_500 } };
    expect(show(<Outcome answer={large} catalog={catalog} />).text()).toContain('It uses 3.34 GWh.');
    expect(show(<Outcome answer={refusalOf('phases-bad')} catalog={catalog} />).text()).toContain('phases[1]');
});
