import { expect, test } from 'vitest';
import { Folded } from './folded';
import { show, textOf, unfold } from './test-view';

test('a title, a mark, and what is inside once it is open', () => {
    const { box, one } = show(
        <Folded title="More" mark="2 changed">
            <p>inside</p>
        </Folded>,
    );
    expect(one<HTMLDetailsElement>('details').open).toBe(false);
    expect(textOf(unfold(box, 'More 2 changed'))).toBe('More 2 changed inside');
});

test('no mark leaves nothing behind', () => {
    expect(textOf(show(<Folded title="More" mark={false} children="inside" />).one('summary'))).toBe('More');
});
