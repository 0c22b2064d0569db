import { expect, test } from 'vitest';
import { measuredOf } from '../shared/test-data';
import { cellsOf, press, show, textOf, unfold } from '../shared/test-view';
import { Legend, Matrix } from './map';

const measured = measuredOf();
const count = measured.names.length;

test('the slowest link stands above the matrix', () => {
    const { one, text } = show(<Matrix measured={measured} />);
    const [first] = measured.slow;
    expect(textOf(one('h3'))).toContain(`the slowest, ${first?.from} to ${first?.to}, does`);
    expect(text()).toContain('Both directions are equally fast.');
    expect(text()).toContain('GB/s');
});

test('arrow keys go from link to link', () => {
    const { find } = show(<Matrix measured={measured} />);
    const slider = find('slider');
    expect(slider.getAttribute('aria-valuemax')).toBe(String(count * count));
    press(slider, 'ArrowRight');
    expect(slider.getAttribute('aria-valuetext')).toMatch(new RegExp(`^${measured.names[0]} to ${measured.names[1]}: .* of the median$`));
    press(slider, 'ArrowLeft');
    expect(slider.getAttribute('aria-valuetext')).toBe(`${measured.names[0]} to itself: not measured`);
    press(slider, 'ArrowUp');
    expect(slider.getAttribute('aria-valuenow')).toBe('1');
});

test('the slowest links and the whole matrix as tables', () => {
    const { box } = show(<Matrix measured={measured} />);
    const [head, ...slow] = cellsOf(unfold(box, 'The slowest links'));
    expect(head).toEqual(['From', 'To', 'GB/s', 'Of the median']);
    expect(slow.map(([from, to]) => [from, to])).toEqual(measured.slow.map(({ from, to }) => [from, to]));
    const whole = cellsOf(unfold(box, 'The whole matrix (GB/s)'));
    expect(whole).toHaveLength(count + 1);
    expect(whole[1]?.[1]).toBe('–');
});

test('links that are all alike have no slow one', () => {
    const rates = measured.rates.map((rate) => (Number.isNaN(rate) ? rate : 40));
    const alike = { ...measured, rates, slow: [], lowest: 40, highest: 40, median_gbyte_per_s: 40 };
    expect(textOf(show(<Matrix measured={alike} />).one('h3'))).toMatch(/^All 132 links are equally fast: 40/);
});

test('a large matrix is drawn in pixels, with its rows and columns named once', () => {
    const names = Array.from({ length: 80 }, (_, i) => `node-${i}`);
    const rates = Float64Array.from({ length: 6400 }, (_, i) => (i % 81 === 0 ? Number.NaN : 40 + (i % 7)));
    const { box, text } = show(<Matrix measured={{ ...measured, names, rates, missing_count: 3, symmetric: false, asymmetry: 0.2 }} />);
    expect(box.querySelector('canvas')).not.toBeNull();
    expect(text()).toContain('← sender');
    expect(text()).toContain('3 links were not measured');
});

test('every colour is explained', () => {
    expect(show(<Legend marked />).box.querySelectorAll('li')).toHaveLength(7);
    expect(show(<Legend marked={false} />).box.querySelectorAll('li')).toHaveLength(6);
});
