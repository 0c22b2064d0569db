import { expect, test } from 'vitest';
import { format } from '../format/format';
import { answeredOf } from '../shared/test-data';
import { cellsOf, plain, press, show, unfold } from '../shared/test-view';
import { StepCurve } from './curve';

test('the peak is told, and arrow keys go through the passes', () => {
    const { answer } = answeredOf();
    const { find, one, text } = show(<StepCurve answer={answer} />);
    const most = Math.max(...(answer.curve?.bytes ?? []));
    expect(plain(one('.finding').textContent ?? '')).toContain(`Peak of ${format.gb(most)} GB allocated`);
    const slider = find('slider');
    expect(slider.getAttribute('aria-valuemax')).toBe(String(answer.curve?.bytes.length));
    press(slider, 'Home');
    expect(slider.getAttribute('aria-valuenow')).toBe('1');
    press(slider, 'ArrowRight');
    expect(slider.getAttribute('aria-valuetext')).toMatch(/^(Forward|Backward) pass of micro-batch \d+/);
    expect(slider.getAttribute('aria-valuenow')).toBe('2');
    press(slider, 'End');
    press(slider, 'PageUp');
    expect(slider.getAttribute('aria-valuenow')).toBe(String(answer.curve?.bytes.length));
    expect(text()).toContain('80 GB card');
});

test('the same as a table, one row for each pass', () => {
    const { answer } = answeredOf('interleaved-dropout');
    const { box } = show(<StepCurve answer={answer} />);
    const [head, ...rows] = cellsOf(unfold(box, 'As a table'));
    expect(head).toEqual(['Pass', 'Micro-batch', 'Chunk', 'Start', 'End', 'Total (GiB)']);
    expect(rows.map((row) => row.at(-1))).toEqual(answer.curve?.bytes.map(format.gib));
});

test('a method that knows the worst moment alone says so', () => {
    const { answer } = answeredOf('fujii2024');
    expect(show(<StepCurve answer={{ ...answer, curve: null }} />).text()).toMatch(/^This method knows only the worst moment/);
});
