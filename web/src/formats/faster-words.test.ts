import { expect, test } from 'vitest';
import { goodOf } from '../shared/test-data';
import { noneText, stateText } from './faster-words';
import { NOTHING } from './find-faster';

test('what a run is, as a sentence', () => {
    const own = goodOf('estimate', 'llama-70b-64-h100');
    const said = (['fits', 'at_risk', 'does_not_fit'] as const).map((fit) => stateText({ ...own, class: fit }, 1).split(':')[0]);
    expect(said).toEqual(['As it stands, it fits', 'As it stands, it is at risk', 'As it stands, it does not fit']);
});

test('a run that died is not said to fit, and where nothing fits nothing is called the fastest', () => {
    const own = { ...goodOf('estimate', 'llama-70b-64-h100'), class: 'fits' as const };
    expect(stateText(own, 1.32)).toMatch(/^As it stands, it runs out of memory: its log shows 32\s?% more than the estimate\./);
    const fits = 'No other plan on the same GPUs is clearly faster.';
    expect(noneText({ ...NOTHING, own })).toBe(fits);
    expect(noneText({ ...NOTHING, own: { ...own, class: 'at_risk' } })).not.toBe(fits);
    expect(noneText({ ...NOTHING, own, times: 1.32 })).toBe('With the rest of the run as it is, no plan on the same GPUs fits.');
});
