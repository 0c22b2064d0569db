import { expect, test } from 'vitest';
import { answeredOf, catalog } from '../shared/test-data';
import { show, spies, tap } from '../shared/test-view';
import { MAX_PINS, pinOf } from '../state/state';
import type { Page } from '../store/page';
import { PinButton } from './pin-button';

function shown(pins: Page['pins']) {
    const { page, answer } = answeredOf('default', { depth: 'detail' });
    const act = spies();
    return { act, answer, ...show(<PinButton page={{ ...page, pins }} answer={answer} act={act} />) };
}

test('the plan can be pinned, unpinned, and no more than there is room for', () => {
    const free = shown([]);
    tap(free.find('button', 'Pin this plan'));
    expect(free.act.pin).toHaveBeenCalledWith(free.answer.job);
    const pin = pinOf(free.answer.job, catalog);
    const pinned = shown([pin]);
    tap(pinned.find('button', 'Unpin this plan'));
    expect(pinned.act.unpin).toHaveBeenCalledWith(pin);
    const full = shown(Array.from({ length: MAX_PINS }, (_, i) => pinOf({ ...free.answer.job, gpus: 100 + i }, catalog)));
    expect(full.names('button')).not.toContain('Pin this plan');
    expect(full.names('link')).toContain(`${MAX_PINS} plans are pinned; unpin one first`);
});
