import { expect, test, vi } from 'vitest';
import { CopyButton } from './copy-button';
import { later, show, tap, textOf } from './test-view';

async function pressed(outcome: Promise<void>) {
    vi.useFakeTimers();
    const copied = vi.spyOn(navigator.clipboard, 'writeText').mockReturnValue(outcome);
    const { find } = show(<CopyButton label="Copy it" text={() => 'a text'} />);
    tap(find('button', 'Copy it'));
    await later(0);
    expect(copied).toHaveBeenLastCalledWith('a text');
    return find('button');
}

test('it copies a text made at the tap, says so, and is itself again', async () => {
    const button = await pressed(Promise.resolve());
    expect(textOf(button)).toBe('Copied');
    await later(3000);
    expect(textOf(button)).toBe('Copy it');
});

test('a clipboard that is forbidden is told', async () => {
    expect(textOf(await pressed(Promise.reject(new Error('no'))))).toBe('The clipboard is not available');
});
