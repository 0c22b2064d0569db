import { expect, test } from 'vitest';
import { pageOf } from '../shared/test-data';
import { show } from '../shared/test-view';
import { EvidenceView } from './view';

test('what was measured, then the famous runs', () => {
    const prover = { estimate: () => new Promise<never>(() => {}), stop: () => {}, end: () => {} };
    const { names } = show(<EvidenceView page={pageOf()} prover={prover} />);
    expect(names('heading')).toEqual(['How long a step takes', 'Whether a run fits', 'How much memory it takes', 'Famous runs']);
});
