import { expect, test, vi } from 'vitest';
import { answeredOf, pageOf } from '../shared/test-data';
import { show, spies } from '../shared/test-view';
import type { Page } from '../store/page';
import { say } from '../words/words';
import { Detail } from './detail';

function shown(page: Page, act = spies()) {
    const never = () => new Promise<never>(() => {});
    const asker = { estimate: never, stop: () => {}, end: () => {} };
    return show(
        <Detail
            page={page}
            act={act}
            timeline={never}
            calibrate={never}
            placing={{ measure: never, placers: [], exportPlan: never }}
            prover={asker}
            market={asker}
            phaser={{ phases: vi.fn(), pools: vi.fn(), stop: vi.fn() }}
        />,
    );
}

test('all that there is to know of a run', () => {
    const { names, one } = shown(answeredOf().page);
    expect(one('.takes')).toBeTruthy();
    expect(names('region')).toContain(say('items.title'));
    expect(names('complementary')).toContain('Adjust the plan');
});

test('an answer that does not explain its numbers stands, and is asked to; what is missing says so', () => {
    const { page, answer } = answeredOf('llama-70b-64-h100');
    const { curve, comparison, used, assumed, not_counted, ...figures } = answer;
    const act = spies();
    const { names, text } = shown({ ...page, answer: figures }, act);
    expect(act.explain).toHaveBeenCalledTimes(1);
    expect(names('region')).toContain(say('items.title'));
    expect(names('heading')).not.toContain(say('notes.used'));
    expect(text()).toContain(say('later.coming'));
    const whole = spies();
    shown(page, whole);
    expect(whole.explain).not.toHaveBeenCalled();
});

test('before an answer the knobs stand alone, and of an older one the time is not told', () => {
    expect(shown(pageOf('default', { answer: null })).box.querySelectorAll('.cols.alone')).toHaveLength(1);
    expect(shown(pageOf('bad-request')).box.querySelectorAll('.takes')).toHaveLength(0);
});

test('the stages stand where there are several, and each section under its heading', () => {
    const headings = (page: Page): string[] => shown(page).names('heading');
    expect(headings(answeredOf('llama-70b-64-h100').page)).toContain('Memory per stage');
    const one = headings(answeredOf('fsdp').page);
    expect(one).not.toContain('Memory per stage');
    for (const id of ['best', 'gpus', 'limits', 'cards', 'phases', 'pools', 'placement', 'plans', 'evidence'] as const)
        expect(one.some((name) => name.startsWith(say(`section.${id}`)))).toBe(true);
});
