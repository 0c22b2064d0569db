import { expect, test } from 'vitest';
import { catalog, goodOf } from '../shared/test-data';
import { fasterText, noneText, stateText } from './faster-words';
import { NOTHING } from './find-faster';

test('what a run is, as a sentence', () => {
    const own = goodOf('estimate', 'llama-70b-64-h100');
    const said = (['fits', 'at_risk', 'does_not_fit'] as const).map(
        (fit) => stateText(catalog, { ...own, class: fit }, NOTHING).split(':')[0],
    );
    expect(said).toEqual(['As it stands, it fits', 'As it stands, it is at risk', 'As it stands, it does not fit']);
});

test('a run that died is not said to fit, and where nothing fits nothing is called the fastest', () => {
    const own = { ...goodOf('estimate', 'llama-70b-64-h100'), class: 'fits' as const };
    expect(stateText(catalog, own, { ...NOTHING, times: 1.32 })).toMatch(
        /^As it stands, it runs out of memory: its log shows 32\s?% more than the estimate\./,
    );
    const fits = 'No other plan on the same GPUs is clearly faster.';
    expect(noneText({ ...NOTHING, own })).toBe(fits);
    expect(noneText({ ...NOTHING, own: { ...own, class: 'at_risk' } })).not.toBe(fits);
    expect(noneText({ ...NOTHING, own, times: 1.32 })).toBe('With the rest of the run as it is, no plan on the same GPUs fits.');
});

test('a plan that the text leaves open is said to be chosen', () => {
    const own = { ...goodOf('estimate', 'llama-70b-64-h100'), class: 'fits' as const };
    const said = (chose: 'split' | 'recompute') => stateText(catalog, own, { ...NOTHING, own, chose });
    expect(said('split')).toMatch(
        /^The text does not fully say how the model is split over the GPUs\. Fourfold chose tensor \d+ · .*, which fits: /,
    );
    expect(said('recompute')).toMatch(/^The text does not say what is recomputed\. Fourfold chose /);
    const text = fasterText({ ...NOTHING, own, chose: 'split', format: catalog.config_formats[0] ?? null, changes: '+ a' }, catalog);
    expect(text).not.toContain('No other plan');
    expect(text).toMatch(/\n\nTo run this plan, say it in the text, as Megatron-LM writes it:\n\+ a$/);
});
