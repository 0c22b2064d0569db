import { expect, test, vi } from 'vitest';
import { answeredOf } from '../shared/test-data';
import { fresh, settle, show, tap } from '../shared/test-view';

test('the room comes in a file of its own', async () => {
    const { Phases } = await fresh(() => import('./door'));
    const { find, names } = show(<Phases page={answeredOf().page} phaser={{ phases: vi.fn(), pools: vi.fn(), stop: vi.fn() }} />);
    tap(find('button', 'Plan phases'));
    await expect.poll(() => names('button')).toContain('Calculate the phases');
    await settle();
});
