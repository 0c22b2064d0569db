import { expect, test } from 'vitest';
import type { Placed } from '../core/api';
import { format } from '../format/format';
import { stepText } from '../shared/step-text';
import { goodOf, measuredOf, pageOf, rankedPage, refusalOf } from '../shared/test-data';
import { cellsOf, plain, show, spies, tap, textOf, unfold } from '../shared/test-view';
import { planAt, settingsOf } from '../store/ranked';
import { Result } from './result';

const never = () => new Promise<never>(() => {});

const placed = goodOf('place', 'place-step-time');
const measured = measuredOf('place-step-time');

function shown(changes: Partial<Placed> = {}, more: Partial<Parameters<typeof Result>[0]> = {}, said = {}) {
    const answer = { ...placed, ...changes };
    const course = { ...answer, points: answer.curve, moves_per_s: 1e6, seconds: 5 };
    const act = spies();
    const found = { answer, course, searches: 4, agreed: 3, stopped: false, ...said };
    const view = (
        <Result
            page={pageOf()}
            act={act}
            found={found}
            plans={[]}
            measured={measured}
            units={[]}
            exportPlan={never}
            stale={false}
            {...more}
        />
    );
    return { act, ...show(view) };
}
const step = (seconds: number): string => plain(stepText(seconds));

test('how much shorter a step is, and who stands where', () => {
    const { box, one, text } = shown();
    const { best_seconds, default_seconds, gain_share } = placed;
    expect(textOf(one('h3'))).toContain(
        plain(`${format.percent(gain_share)} shorter steps: ${step(best_seconds)} instead of ${step(default_seconds)}`),
    );
    expect(text()).toMatch(/tried in 5.00 s, 1 million a second, by 4 searches\./);
    const [head, ...rows] = cellsOf(unfold(box, 'Which node does what'));
    expect(head).toHaveLength(5);
    expect(rows.map((cells) => cells[4])).toEqual(placed.positions.map(({ name }) => name));
    expect(text()).toContain(`Not needed: ${placed.spare.map((unit) => measured.names[unit]).join('')}.`);
    expect(text()).toContain('Files for your launcher');
});

test('how many searches came to it', () => {
    expect(shown().text()).toContain('3 of 4 searches found this placement, or one that is as fast (within 0.1 %).');
    expect(shown({}, {}, { agreed: 1 }).text()).toContain('1 of 4 searches found this placement; the others ended at slower ones');
    for (const said of [shown({}, {}, { agreed: 1, searches: 1 }), shown({ nothing_to_gain: true })])
        expect(said.text()).not.toContain('found this placement');
});

test('nothing to gain is said without a course', () => {
    const { one, text } = shown({ nothing_to_gain: true });
    expect(textOf(one('h3'))).not.toContain('shorter steps');
    expect(text()).not.toContain('The best so far');
});

test('another plan may be the fastest, and can be taken', () => {
    const ranked = rankedPage().ranking.ranked;
    if (!ranked) throw new Error('no list');
    const plans = [0, 1].map((row) => settingsOf(planAt(ranked, row)));
    const list = [
        { index: 1, default_seconds: 20, best_seconds: 15, fits: true },
        { index: 0, default_seconds: 21, best_seconds: 18, fits: false },
    ];
    const { act, find, text } = shown({ ranked: list }, { plans });
    expect(text()).toContain(`${step(15)} a step with another plan, instead of ${step(21)} now`);
    expect(text()).toContain('the plan shown, does not fit');
    tap(find('button', /^Take it: /));
    expect(act.change).toHaveBeenCalledWith(plans[1], 'choose');
});

test('layers spread another way are a tap away, with all that they set', () => {
    const suggestion = { set: { layout: 'front' }, label: { id: 'choice.layout.front' }, seconds: 16 };
    const { act, find, text } = shown({ suggestion });
    expect(text()).toContain(`then a step takes ${step(16)} instead of ${step(placed.best_seconds)}`);
    tap(find('button', /^Do that: /));
    expect(act.change).toHaveBeenCalledWith(
        expect.objectContaining({ layout: 'front', pipeline_parallel: 4, tensor_parallel: 2 }),
        'choose',
    );
});

test('nodes that differ, and what does not fit them, come first', () => {
    const name = placed.positions[0]?.name ?? '';
    const out = measured.names[placed.spare[0] ?? 0] ?? '';
    const units = [
        { name, speed: 0.5 },
        { name: out, memory_gib: 40 },
    ];
    const warnings = refusalOf('broken-rules').problems;
    const { one, text } = shown({ warnings }, { units });
    expect(textOf(one('.unfit'))).toMatch(/^× The 32 attention heads/);
    expect(text()).toContain(`◆ ${name} (50 % speed) works on stage 1.`);
    expect(text()).toContain(`◆ ${out} (40 GB per GPU) is left out.`);
});

test('an older result says so by its look, GPUs have no files', () => {
    const { one, text } = shown({ units: 'gpus', files: [], objective: { id: 'pipette' } }, { stale: true });
    expect(one('.step').classList).toContain('stale');
    expect(text()).toContain('Launchers order hosts, not single GPUs');
});
