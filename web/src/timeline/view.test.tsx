import { expect, test, vi } from 'vitest';
import type { Answers, JobRefusal, TimelineAnswer } from '../core/api';
import { format } from '../format/format';
import { goodOf, refusalOf } from '../shared/test-data';
import { cellsOf, plain, press, settle, show, tap, textOf, unfold } from '../shared/test-view';
import { PipelineTimeline } from './view';

const answer = goodOf('timeline', 'timeline');
const line = answer.timeline;
if (!line) throw new Error('no timeline');

const waits = Math.min(...line.stages.map(({ idle_seconds }) => idle_seconds));

async function shown(asked: Answers['timeline'] | Error = answer, counted = waits) {
    const ask = vi.fn(async (_: object): Promise<Answers['timeline']> => {
        if (asked instanceof Error) throw asked;
        return asked;
    });
    const view = show(<PipelineTimeline job={answer.job} counted={counted} ask={ask} />);
    expect(view.text()).toBe('The step is being simulated…');
    await settle();
    return { ask, ...view };
}

test('how long stages wait, which is the slowest, and by which schedule', async () => {
    const { ask, one, text } = await shown();
    expect(ask).toHaveBeenCalledWith(answer.job);
    expect(textOf(one('.finding'))).toBe(
        plain(
            `Stages wait ${format.percent(line.bubble_share)} of the pipeline’s time on average; stage ${line.slowest_stage + 1} is the slowest`,
        ),
    );
    expect(text()).toMatch(/interleaved/i);
});

test('arrow keys go through the passes; the readout says what runs when', async () => {
    const { find, one } = await shown();
    const slider = find('slider');
    press(slider, 'ArrowRight');
    expect(slider.getAttribute('aria-valuetext')).toMatch(
        new RegExp(`^Stage ${line.slowest_stage + 1}, forward pass of micro-batch 1, chunk 1`),
    );
    expect(textOf(one('.readout'))).toBe(plain(slider.getAttribute('aria-valuetext') ?? ''));
    press(slider, 'End');
    expect(slider.getAttribute('aria-valuetext')).toContain('backward pass');
    press(slider, 'ArrowUp');
    expect(slider.getAttribute('aria-valuetext')).toMatch(new RegExp(`^Stage ${line.slowest_stage}`));
});

test('zooming by buttons and keys', async () => {
    const { find } = await shown();
    expect(find('button', 'Zoom out').getAttribute('aria-disabled')).toBe('true');
    tap(find('button', 'Zoom in'));
    expect(find('button', 'Zoom out').getAttribute('aria-disabled')).toBe('false');
    press(find('slider'), '0');
    expect(find('button', 'Zoom out').getAttribute('aria-disabled')).toBe('true');
});

test('the stages and the passes of one as tables', async () => {
    const { box } = await shown();
    const [head, ...stages] = cellsOf(unfold(box, 'Stages as a table'));
    expect(head).toEqual(['Stage', 'Works', 'Waits', 'Waits, of the pipeline’s time']);
    expect(stages.map((cells) => cells.at(-1))).toEqual(line.stages.map(({ idle_share }) => plain(format.percent(idle_share))));
    const [, ...passes] = cellsOf(unfold(box, `Passes of stage ${line.slowest_stage + 1} as a table`));
    expect(passes).toHaveLength(line.stages[line.slowest_stage]?.start.length ?? 0);
});

test('one stage waits for no other; stages with the same work are told as such', async () => {
    const of = (changes: object): TimelineAnswer => ({ ...answer, timeline: { ...line, ...changes } });
    expect(textOf((await shown(of({ stages: line.stages.slice(0, 1), slowest_stage: 0 }))).one('.finding'))).toMatch(
        /^With a single stage/,
    );
    expect(textOf((await shown(of({ equally_slow: line.stages.length }))).one('.finding'))).toContain('all have the same work');
    expect(textOf((await shown(of({ equally_slow: 2 }))).one('.finding'))).toContain('2 stages have the most work');
});

test('where the step time counts other waits than are played, both are said, and why', async () => {
    expect((await shown()).text()).not.toContain('the slowest stage waits');
    const [much, little] = [waits + line.makespan_seconds / 5, waits - line.makespan_seconds / 50];
    expect((await shown(answer, much)).text()).toContain('counts every transfer between stages as a wait');
    const { text } = await shown(answer, little);
    expect(text()).toContain(plain(`the slowest stage waits ${format.duration(waits)}`));
    expect(text()).not.toContain('counts every transfer');
});

test('no picture: why, and where it could not be had', async () => {
    expect((await shown({ ...answer, timeline: null })).text()).not.toBe('');
    expect((await shown(refusalOf('broken-rules') as JobRefusal)).text()).toBe('The timeline could not be computed.');
    expect((await shown(new Error('gone'))).text()).toBe('The timeline could not be computed.');
});

test('another plan: the timeline before it says so until the new one is there', async () => {
    const { again, ask, one, text } = await shown();
    let done = (_: TimelineAnswer) => {};
    ask.mockReturnValueOnce(
        new Promise((resolve) => {
            done = resolve;
        }),
    );
    again(<PipelineTimeline job={{ ...answer.job, micro_batch: 2 }} counted={waits} ask={ask} />);
    expect(text()).toContain('This timeline belongs to the run before the last change.');
    done(answer);
    await settle();
    expect(one('.timeline').classList).not.toContain('stale');
});

test('the scale is in the unit that a reader would use: ms, s, min', async () => {
    const ticksOf = async (seconds: number) => {
        const times = seconds / line.drawn_seconds;
        const stages = line.stages.map((stage) => ({
            ...stage,
            start: stage.start.map((time) => time * times),
            end: stage.end.map((time) => time * times),
        }));
        const { box } = await shown({ ...answer, timeline: { ...line, stages, drawn_seconds: seconds } });
        return [...box.querySelectorAll('.over text')].map(textOf);
    };
    expect((await ticksOf(0.8)).at(-1)).toMatch(/^[1-9]\d\d ms$/);
    expect((await ticksOf(5.5)).at(-1)).toMatch(/^5(\.\d)? s$/);
    expect((await ticksOf(5400)).at(-1)).toMatch(/^\d\d min$/);
});
