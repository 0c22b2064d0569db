import { expect, test } from 'vitest';
import { goodOf, measuredOf } from '../shared/test-data';
import { show, textOf } from '../shared/test-view';
import { Picture } from './picture';
import { gridOf } from './search';

function shown(name: string, differences = new Map()) {
    const answer = goodOf('place', name);
    const measured = measuredOf(name);
    const names = answer.placement.map((unit) => measured.names[unit] ?? '');
    const view = show(
        <Picture
            title="After"
            grid={gridOf(answer.positions)}
            names={names}
            units={answer.placement}
            binds={answer.critical.best}
            measured={measured}
            differences={differences}
        />,
    );
    return { ...view, answer, measured, standing: names };
}

test('every node in its place, by stage, and the links that set the pace', () => {
    const { answer, box, find, measured, standing, text } = shown('place-step-time');
    expect(standing.filter((name) => !text().includes(name))).toEqual([]);
    expect(text()).toContain('Stage 1 ');
    const slowest = answer.critical.best.ring?.link;
    expect(find('img').getAttribute('aria-label')).toContain(`the slowest link is ${measured.names[slowest?.from ?? 0]} to`);
    expect(box.querySelectorAll('ul li')).toHaveLength(2);
    expect(box.querySelectorAll('.bound').length).toBeGreaterThan(0);
});

test('with one stage there is a ring alone', () => {
    const { positions } = goodOf('place', 'place-step-time');
    const alone = positions.map((one) => ({ ...one, stages: [0, 0] as [number, number] }));
    const measured = measuredOf('place-step-time');
    const binds = { pipeline: null, ring: goodOf('place', 'place-step-time').critical.best.ring };
    const { text } = show(
        <Picture
            title="T"
            grid={gridOf(alone)}
            names={measured.names}
            units={alone.map(({ unit }) => unit)}
            binds={binds}
            measured={measured}
            differences={new Map()}
        />,
    );
    expect(text()).not.toContain('Stage 1');
    expect(text()).toContain('The copies of the model exchange gradients');
});

test('a node that differs says in what', () => {
    const { placement } = goodOf('place', 'place-step-time');
    const { one } = shown('place-step-time', new Map([[placement[0], { speed: 0.5, memory_gib: null }]]));
    expect(textOf(one('svg'))).toMatch(/◆ 50 %/);
});
