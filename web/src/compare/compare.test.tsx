import { expect, test } from 'vitest';
import { answeredOf, catalog } from '../shared/test-data';
import { fresh, settle, show, spies, tap } from '../shared/test-view';
import { pinOf } from '../state/state';
import { Compare } from './compare';

const { page, answer } = answeredOf();

test('nothing is pinned: how to pin, and the plan shown at a tap', () => {
    const act = spies();
    const { find, names, text } = show(<Compare page={page} act={act} />);
    expect(names('heading')).toEqual(['Compare']);
    expect(text()).toContain('Pin this plan');
    tap(find('button'));
    expect(act.pin).toHaveBeenCalledWith(answer.job);
});

test('a plan that cannot work is not offered to be pinned', () => {
    expect(show(<Compare page={{ ...page, answer: null }} act={spies()} />).names('button')).toEqual([]);
});

test('with a pin, the table comes', async () => {
    const { Compare } = await fresh(() => import('./compare'));
    const pins = [pinOf({ ...answer.job, gpus: 16 }, catalog)];
    const { all, text } = show(<Compare page={{ ...page, pins }} act={spies()} />);
    expect(text()).toContain('One moment…');
    await expect.poll(() => all('table').length).toBe(1);
    await settle();
});
