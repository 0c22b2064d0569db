import { expect, test } from 'vitest';
import { goodOf } from '../shared/test-data';
import { fresh, settle, show } from '../shared/test-view';

test('the timeline comes in a file of its own', async () => {
    const { PipelineTimeline } = await fresh(() => import('./door'));
    const answer = goodOf('timeline', 'timeline');
    const { all, text } = show(<PipelineTimeline job={answer.job} counted={0} ask={async () => answer} />);
    expect(text()).toBe('One moment…');
    await expect.poll(() => all('slider').length).toBe(1);
    await settle();
});
