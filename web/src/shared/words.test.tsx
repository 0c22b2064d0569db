import { expect, test } from 'vitest';
import { show, textOf } from './test-view';
import { Words } from './words';

test('controls stand where the sentence has them, and tags enclose a part of it', () => {
    const { box, one } = show(
        <Words id="map.shows" args={{ cells: 1200, fits: 20, at_risk: 4, does_not_fit: 6 }} tags={{ b: (inside) => <b>{inside}</b> }} />,
    );
    expect(textOf(box)).toMatch(/ each split, 1,200 in all: 20 fit/);
    expect(textOf(one('b'))).toBe('20');
    const slots = show(<Words id="limits.at_least" slots={{ gpus: <button type="button">64 GPUs</button> }} />);
    expect(slots.names('button')).toEqual(['64 GPUs']);
    expect(slots.text()).not.toBe('64 GPUs');
});
