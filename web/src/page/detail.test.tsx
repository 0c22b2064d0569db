import { expect, test, vi } from 'vitest';
import { answeredOf, pageOf } from '../shared/test-data';
import { show, spies } from '../shared/test-view';
import type { Page } from '../store/page';
import { say } from '../words/words';
import { Detail } from './detail';

function shown(page: Page) {
    const never = () => new Promise<never>(() => {});
    const asker = { estimate: never, stop: () => {}, end: () => {} };
    return show(
        <Detail
            page={page}
            act={spies()}
            timeline={never}
            calibrate={never}
            placing={{ measure: never, placers: [], exportPlan: never }}
            prover={asker}
            market={asker}
            phaser={{ phases: vi.fn(), pools: vi.fn(), stop: vi.fn() }}
        />,
    );
}

test('all that there is to know of a run', () => {
    const { names, one } = shown(answeredOf().page);
    expect(one('.takes')).toBeTruthy();
    expect(names('region')).toContain(say('items.title'));
    expect(names('complementary')).toContain('Adjust the plan');
});

test('before an answer the knobs stand alone, and of an older one the time is not told', () => {
    expect(shown(pageOf('default', { answer: null })).box.querySelectorAll('.cols.alone')).toHaveLength(1);
    expect(shown(pageOf('bad-request')).box.querySelectorAll('.takes')).toHaveLength(0);
});
