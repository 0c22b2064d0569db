import { expect, test } from 'vitest';
import { format } from '../format/format';
import { goodOf, rankedPage } from '../shared/test-data';
import { focus, plain, press, show, spies, tap, textOf } from '../shared/test-view';
import { planAt, settingsOf } from '../store/ranked';
import { Scatter } from './scatter';

const ranked = goodOf('rank', 'rank-70b');

function shown(of = ranked) {
    const { catalog, answer, problems } = rankedPage();
    const act = spies();
    return { act, ...show(<Scatter shown={{ catalog, answer, problems }} ranked={of} act={act} />) };
}
const fastest = [...ranked.front].sort((a, b) => planAt(ranked, a).step_seconds - planAt(ranked, b).step_seconds)[0] ?? 0;

test('the plans that no other beats are buttons that say what they are', () => {
    const { names, text } = shown();
    const { step_seconds, whole_bytes } = planAt(ranked, fastest);
    expect(text()).toContain(`No other plan beats ${ranked.front.length} of these`);
    expect(names('button')[0]).toContain(plain(`${format.duration(step_seconds)} a step, ${format.gb(whole_bytes)} GB`));
    expect(names('group')).toHaveLength(1);
});

test('arrow keys move along them, Enter and a tap take one', () => {
    const { act, all, find, one } = shown();
    focus(all('button')[0] as Element);
    expect(textOf(one('.readout'))).toBe(plain(all('button')[0]?.getAttribute('aria-label') ?? ''));
    press(find('group'), 'Enter');
    expect(act.change.mock.calls[0]?.[0]).toMatchObject(settingsOf(planAt(ranked, fastest)));
    if (all('button').length > 1) {
        press(find('group'), 'ArrowRight');
        expect(document.activeElement).toBe(all('button')[1]);
        press(find('group'), 'Home');
    }
    expect(document.activeElement).toBe(all('button')[0]);
    tap(all('button').at(-1) as Element);
    expect(act.change).toHaveBeenCalledTimes(2);
});

test('the scale is that of the list, whatever the answer above is of', () => {
    const { catalog } = rankedPage();
    const { box, text } = show(<Scatter shown={{ catalog, answer: null, problems: [] }} ranked={ranked} act={spies()} />);
    const heights = [...box.querySelectorAll('circle')].map((one) => Number(one.getAttribute('cy')));
    expect(Math.min(...heights)).toBeGreaterThan(0);
    expect(Math.max(...heights)).toBeLessThan(300);
    expect(text()).toContain('0 20 40 60 80');
});

test('one plan alone is no drawing', () => {
    expect(shown({ ...ranked, plans: { step_seconds: [1], whole_bytes: [1], total_bytes: [1] }, front: [0] }).text()).toBe('');
});
