import { expect, test } from 'vitest';
import type { GroupId, TimeKind } from '../core/api';
import { Patterns, percent, room, Swatch, TimeFill } from './chart';
import { show } from './test-view';

const GROUPS: readonly (GroupId | 'outside')[] = ['gradients', 'optimizer', 'activations', 'temporaries', 'workspaces', 'outside'];
const KINDS: readonly TimeKind[] = ['compute', 'tensor', 'context', 'pipeline', 'data', 'bubble', 'other'];

test('a share is a width, and its size says how much text it has room for', () => {
    expect([percent(0), percent(1 / 3), percent(1)]).toEqual(['0.000%', '33.333%', '100.000%']);
    expect([0.5, 0.2, 0.09, 0.01].map(room)).toEqual(['wide', 'half', 'small', 'tiny']);
});

test('every colour has a pattern that is there', () => {
    const { box } = show(
        <svg aria-hidden="true">
            <Patterns />
            {GROUPS.map((id) => (
                <Swatch key={id} id={id} />
            ))}
            {KINDS.map((kind) => (
                <TimeFill key={kind} kind={kind} />
            ))}
        </svg>,
    );
    const used = [...box.querySelectorAll('rect.pattern')].map((one) => one.getAttribute('fill')?.slice(5, -1) ?? '');
    const there = [...box.querySelectorAll('pattern')].map(({ id }) => id);
    expect(used).toHaveLength(GROUPS.length + 5); // computing and the rest are plain
    expect(used.filter((id) => !there.includes(id))).toEqual([]);
});
