import { expect, test, vi } from 'vitest';
import { DialogDoor } from './dialog-door';
import { show, tap } from './test-view';

const door = (fetch: () => Promise<string>) => (
    <DialogDoor
        label="Open"
        fetch={fetch}
        draw={(said, close) => (
            <p>
                {said}{' '}
                <button type="button" onClick={close}>
                    Leave
                </button>
            </p>
        )}
    />
);

test('what was fetched is drawn; closing it gives the focus back', async () => {
    const { find, text } = show(door(async () => 'Here it is'));
    const button = find('button', 'Open');
    tap(button);
    expect(button.getAttribute('aria-busy')).toBe('true');
    await vi.waitFor(() => expect(text()).toContain('Here it is'));
    expect(button.getAttribute('aria-expanded')).toBe('true');
    tap(find('button', 'Leave'));
    expect(text()).not.toContain('Here it is');
    expect(document.activeElement).toBe(button);
});

test('what cannot be fetched is said, and the next press tries again', async () => {
    let reachable = false;
    const { find, text } = show(door(() => (reachable ? Promise.resolve('Here it is') : Promise.reject(new Error('no network')))));
    tap(find('button', 'Open'));
    await vi.waitFor(() => expect(find('alert').textContent).toBeTruthy());
    reachable = true;
    tap(find('button', 'Open'));
    await vi.waitFor(() => expect(text()).toContain('Here it is'));
});
