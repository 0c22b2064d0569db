import { expect, test } from 'vitest';
import { format } from '../format/format';
import { answeredOf, catalog } from '../shared/test-data';
import { cellsOf, plain, show, textOf, unfold } from '../shared/test-view';
import { Near } from './near';
import { off } from './off';
import { alikeOf, byDistance, errorOf, errorsOf, isNear, runsOf } from './runs';

function shown(name?: string, job: Record<string, unknown> = {}) {
    const { page, answer: golden } = answeredOf(name);
    const answer = { ...golden, job: { ...golden.job, ...job } };
    const near = byDistance(alikeOf(answer, catalog), runsOf(catalog));
    return { answer, near, ...show(<Near page={page} answer={answer} />) };
}

test('how far the estimate was off for the runs like this one, then each of them, the worst first', () => {
    const { box, near, one } = shown();
    const runs = near.filter(isNear).map(({ run }) => run);
    const errors = errorsOf(runs.map(({ seconds }) => seconds));
    if (!errors) throw new Error('no run with a time is near the default plan');
    const { count, mean, low, high } = errors;
    const [from, to] = [low, high].map((error) => plain(off(1 + error)));
    // The list below counts those, too, of which only the outcome is known.
    const some = count < runs.length ? `${count} of ${runs.length}` : String(count);
    expect(some).toContain(' of ');
    const line = `${some} measured runs like this one tell the time of a step: the estimate was off by ${plain(format.percent(mean))} on average`;
    expect(textOf(one('.near > p'))).toContain(`${line} (measured: from ${from} to ${to}).`);
    const [head, ...rows] = cellsOf(unfold(box, /^The \d+ measured runs like this one/));
    expect(head).toHaveLength(6);
    const worst = Math.max(
        ...runs.map(({ seconds, gib }) => Math.max(...[seconds, gib].map((pair) => (pair ? Math.abs(errorOf(pair)) : 0)))),
    );
    expect(rows[0]?.[4]?.replace(/^[+−]/, '')).toContain(plain(off(1 + worst)).slice(1));
    expect(rows.every(([name]) => / on \d+ H/.test(name ?? ''))).toBe(true);
});

test('every run has its source, and says in what it differs', () => {
    const { all, box } = shown();
    const details = unfold(box, /^The \d+ measured runs/);
    for (const link of all('link')) expect((link as HTMLAnchorElement).href).toMatch(/^https:/);
    const differs = cellsOf(details)
        .slice(1)
        .map((cells) => cells[1]);
    expect(differs.every((text) => text && / instead of |nothing of what is compared/.test(text))).toBe(true);
});

test('a class of sizes is not the name of a model, and no size is written beside the same one', () => {
    const { box, text } = shown('llama-70b-64-h100', { gpus: 16, pipeline_parallel: 2, tensor_parallel: 8, virtual_stages: 1 });
    const rows = cellsOf(unfold(box, /measured run/));
    expect(rows.map(([name]) => name)).toContainEqual(expect.stringMatching(/^Model of [\d.]+ billion parameters on/));
    expect(text()).not.toMatch(/\b\d+G on \d/);
    for (const [, theirs, yours] of text().matchAll(/([\d.]+ \w+) parameters instead of ([\d.]+ \w+)/g)) expect(theirs).not.toBe(yours);
});

test('where none is near the nearest is named', () => {
    const { box, near, one } = shown('deepseek-v3-1024-h100', { sequence_length: 1_048_576 });
    const nearest = near[0]?.run;
    expect(textOf(one('.near > p'))).toMatch(
        new RegExp(
            `^No measured run is near this one. The nearest is ${nearest?.model} on ${format.count(nearest?.gpus ?? 0)} .*sequence length .* instead of`,
        ),
    );
    expect(cellsOf(unfold(box, 'The nearest measured runs'))).toHaveLength(7);
});
