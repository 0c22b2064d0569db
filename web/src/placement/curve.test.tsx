import { expect, test } from 'vitest';
import { format } from '../format/format';
import { stepText } from '../shared/step-text';
import { goodOf } from '../shared/test-data';
import { cellsOf, plain, show, textOf, unfold } from '../shared/test-view';
import { Curve } from './curve';
import type { Course } from './search';

const answer = goodOf('place', 'place-pipette');
const course: Course = { ...answer, points: answer.curve, moves_per_s: 50_000, seconds: 2 };

test('how far the best fell, and the course as a table', () => {
    const { box, one } = show(<Curve course={course} running={false} />);
    const [was, best] = [course.default_seconds, course.best_seconds].map((seconds) => plain(stepText(seconds)));
    expect(textOf(one('h4'))).toBe(`The best so far: from ${was} down to ${best}`);
    const [head, ...rows] = cellsOf(unfold(box, 'The search as a table'));
    expect(head).toEqual(['Moves', 'Best so far']);
    expect(rows.map(([moves]) => moves)).toEqual(course.points.map(([moves]) => format.count(moves)));
});

test('a search that finds nothing stays level; while it runs there is no table', () => {
    const level: Course = { ...course, best_seconds: course.default_seconds, moves: 0, points: [[0, course.default_seconds]] };
    const { box, one } = show(<Curve course={level} running />);
    expect(textOf(one('h4'))).toMatch(/^The best so far stayed at/);
    expect(box.querySelector('details')).toBeNull();
});
