import { expect, test } from 'vitest';
import { answeredOf } from '../shared/test-data';
import { show, unfold } from '../shared/test-view';
import { Sure } from './sure';

test('what the answer rests on is folded away, and comes when it is opened', async () => {
    const { answer } = answeredOf();
    const { box, text } = show(
        <Sure answer={answer} depth="plain">
            <p>what else is known</p>
        </Sure>,
    );
    expect(text()).toBe('How sure is this?');
    unfold(box, 'How sure is this?');
    await expect.poll(text).toMatch(/One step takes .* what else is known/);
});
