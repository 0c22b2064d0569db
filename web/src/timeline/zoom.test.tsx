import { expect, test } from 'vitest';
import { goodOf } from '../shared/test-data';
import { show, tap } from '../shared/test-view';
import { Buttons, useZoom } from './zoom';

const line = goodOf('timeline', 'timeline').timeline;
if (!line) throw new Error('no timeline');

function Zoomed() {
    const zoom = useZoom(line as NonNullable<typeof line>);
    return (
        <div ref={zoom.box}>
            <Buttons zoom={zoom} anchor={() => 0} />
            <output>{zoom.scale.toFixed(2)}</output>
        </div>
    );
}

test('in, out, and everything; what cannot be done is said and does nothing', () => {
    const { find, names, one } = show(<Zoomed />);
    const [out, into, whole] = ['Zoom out', 'Zoom in', 'Everything'].map((name) => find('button', name)) as [Element, Element, Element];
    expect(names('group')).toEqual(['Zoom']);
    tap(out);
    expect(one('output').textContent).toBe('1.00');
    tap(into);
    tap(into);
    expect(one('output').textContent).toBe('2.56');
    tap(out);
    expect(one('output').textContent).toBe('1.60');
    tap(whole);
    expect(one('output').textContent).toBe('1.00');
    expect([out, whole].map((one) => one.getAttribute('aria-disabled'))).toEqual(['true', 'true']);
    for (let i = 0; i < 40; i++) tap(into);
    expect(into.getAttribute('aria-disabled')).toBe('true');
});
