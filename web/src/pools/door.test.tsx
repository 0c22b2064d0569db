import { expect, test, vi } from 'vitest';
import { answeredOf } from '../shared/test-data';
import { fresh, settle, show, tap } from '../shared/test-view';

test('the room comes in a file of its own', async () => {
    const { Pools } = await fresh(() => import('./door'));
    const { find, names } = show(<Pools page={answeredOf().page} mixer={{ pools: vi.fn(), stop: vi.fn() }} />);
    tap(find('button', 'Add other GPUs'));
    await expect.poll(() => names('button')).toContain('Calculate together');
    await settle();
});
