import { expect, test, vi } from 'vitest';
import { format } from '../format/format';
import { answeredOf } from '../shared/test-data';
import { cellsOf, plain, settle, show, spies, tap } from '../shared/test-view';
import { TimeTable } from './time-table';

const { page, answer } = answeredOf('llama-405b-512-h100');

function shown(chosen: 'compute' | 'tensor' | null = null, rate = 'full') {
    const act = spies();
    return { act, ...show(<TimeTable page={{ ...page, rate }} answer={answer} chosen={chosen} act={act} />) };
}

test('every item of a step with its time and share, and the whole', () => {
    const { one, text } = shown();
    const [head, ...rows] = cellsOf(one('table'));
    const { items, step_seconds, low_seconds, high_seconds } = answer.time;
    expect(head).toEqual(['Time of a step', 'Time', 'of the step']);
    expect(rows.map(([, time]) => time)).toEqual(
        [...items.map(({ seconds }) => seconds), step_seconds].map((time) => plain(format.duration(time))),
    );
    expect(text()).toContain(plain(`from ${format.duration(low_seconds)} to ${format.duration(high_seconds)}`));
});

test('a part chosen in the bar opens its largest item; a tap closes it', () => {
    const { find, names } = shown('tensor');
    const row = find('button', /^Tensor-parallel traffic/);
    expect(row.getAttribute('aria-expanded')).toBe('true');
    expect(names('article')).toEqual(['Tensor-parallel traffic']);
    tap(row);
    expect(names('article')).toEqual([]);
    tap(find('button', /^Attention/));
    expect(names('article')).toEqual(['Attention']);
    tap(find('button', 'Close'));
    expect(names('article')).toEqual([]);
});

test('how FLOP are counted can be chosen, and says what it comes to', () => {
    const { act, all, find, text } = shown(null, 'causal');
    const [full, causal] = answer.time.rates;
    expect(all('button').filter((one) => one.getAttribute('aria-pressed') === 'true')).toEqual([find('button', /causal/)]);
    expect(text()).toContain(plain(`${format.percent(causal?.mfu ?? 0)} of`));
    tap(find('button', /Fujii/));
    expect(act.showRate).toHaveBeenCalledWith(full?.id);
});

test('the copied table has seconds', async () => {
    const copied = vi.spyOn(navigator.clipboard, 'writeText').mockResolvedValue();
    const { find } = shown();
    tap(find('button', 'Copy table'));
    await settle();
    const lines = (copied.mock.calls.at(-1)?.[0] ?? '').split('\n').map((line) => line.split('\t'));
    expect(lines[0]).toEqual(['Time of a step', 'seconds', 'of the step']);
    expect(lines.map(([, seconds]) => seconds).slice(1)).toEqual(
        [...answer.time.items, { seconds: answer.time.step_seconds }].map(({ seconds }) => format.number(seconds)),
    );
});
