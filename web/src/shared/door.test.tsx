import { expect, test } from 'vitest';
import { Door } from './door';
import { settle, show, tap } from './test-view';

const TEXTS = { intro: 'What it is for.', open: 'Enter' };

test('a view that does not come is said, one that comes is shown', async () => {
    const never = () => Promise.reject(new Error('no network'));
    const closed = show(
        <Door id="phases" texts={TEXTS} words="phases" load={never}>
            {() => <p>inside</p>}
        </Door>,
    );
    expect(closed.text()).toContain('What it is for.');
    tap(closed.find('button', 'Enter'));
    await settle();
    expect(closed.text()).not.toContain('inside');
    const open = show(
        <Door id="pools" texts={TEXTS} words="phases" load={async () => 'inside'}>
            {(view) => <p>{view}</p>}
        </Door>,
    );
    tap(open.find('button', 'Enter'));
    await expect.poll(open.text).toContain('inside');
});

test('who opens it by keyboard goes on from there: the button that is gone takes the focus nowhere', async () => {
    const closed = show(
        <Door id="phases" texts={TEXTS} words="phases" load={async () => 'inside'}>
            {(view) => <p>{view}</p>}
        </Door>,
    );
    closed.find('button', 'Enter').focus();
    tap(closed.find('button', 'Enter'));
    await expect.poll(closed.text).toContain('inside');
    expect(document.activeElement?.id).toBe('phases');
});
