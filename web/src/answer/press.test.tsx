import { act } from 'preact/test-utils';
import { expect, test } from 'vitest';
import { show } from '../shared/test-view';
import { Press } from './press';

test('a button that goes while it has the focus leaves it to the answer; one without the focus leaves it where it is', () => {
    const seen = (buttons: string[]) => (
        <section id="answer" tabIndex={-1}>
            {buttons.map((one) => (
                <Press key={one}>{one}</Press>
            ))}
        </section>
    );
    const { again, find, one } = show(seen(['A', 'B', 'C']));
    act(() => find('button', 'A').focus());
    again(seen(['A', 'C']));
    expect(document.activeElement).toBe(find('button', 'A'));
    again(seen(['C']));
    expect(document.activeElement).toBe(one('#answer'));
});
