import { expect, test } from 'vitest';
import { goodOf } from '../shared/test-data';
import { stateText } from './faster-words';

test('what a run is, as a sentence', () => {
    const own = goodOf('estimate', 'llama-70b-64-h100');
    const said = (['fits', 'at_risk', 'does_not_fit'] as const).map((fit) => stateText({ ...own, class: fit }).split(':')[0]);
    expect(said).toEqual(['As it stands, it fits', 'As it stands, it is at risk', 'As it stands, it does not fit']);
});
