import { expect, test, vi } from 'vitest';
import type { Calibrated } from '../core/api';
import { format } from '../format/format';
import { goodOf, pageOf, refusalOf } from '../shared/test-data';
import { cellsOf, later, plain, show, spies, tap, textOf, unfold, write } from '../shared/test-view';
import type { Page } from '../store/page';
import { Calibrate } from './calibrate';

const good = goodOf('calibrate', 'calibrate');

async function shown(answer: Calibrated, text: string | null = 'gpus tp', changes: Partial<Page> = {}) {
    vi.useFakeTimers();
    const calibrate = vi.fn(async (_: object, __: string) => answer);
    const [act, setText] = [spies(), vi.fn()];
    const page = pageOf('default', changes);
    const view = show(<Calibrate page={page} act={act} calibrate={calibrate} text={text} setText={setText} />);
    await later(1);
    return { act, calibrate, setText, page, ...view };
}

test('the runs are asked about, and the usual header stands there before anything is typed', async () => {
    const { calibrate, find, setText } = await shown(good, null);
    expect(calibrate.mock.calls[0]).toEqual([expect.objectContaining({ model: 'llama-3.1-8b' }), '']);
    expect(setText).toHaveBeenCalledWith(`${good.text.header}\n`);
    write(find('textbox', 'Your runs'), 'gpus');
    expect(setText).toHaveBeenLastCalledWith('gpus');
});

test('what they say, run by run, and how far off the estimate is', async () => {
    const { box, text } = await shown(good);
    expect(text()).toContain(plain(`${format.percent(good.before?.mean_error ?? 0)}`));
    const [head, ...rows] = cellsOf(unfold(box, 'As a table'));
    expect(head).toHaveLength(6);
    expect(rows.map(([, measured, estimated]) => [measured, estimated])).toEqual(
        good.rows.map((row) => [plain(format.duration(row.step_seconds)), plain(format.duration(row.estimated_seconds))]),
    );
});

test('a proposal is applied with a tap, and in use it is no longer one', async () => {
    const { act, find } = await shown(good);
    tap(find('button', 'Apply'));
    expect(act.change).toHaveBeenCalledWith(good.set, 'choose');
    const used = await shown(good, 'gpus tp', { job: { ...pageOf().job, ...good.set } });
    expect(used.find('button', 'In use').getAttribute('aria-disabled')).toBe('true');
});

test('the plan shown is one more line', async () => {
    const { find, setText } = await shown(good, 'gpus tp\n');
    tap(find('button', 'Add the plan shown'));
    expect(setText).toHaveBeenLastCalledWith(`gpus tp\n${good.text.line}`);
});

test('runs that cannot be used say why', async () => {
    const bad = refusalOf('calibrate-bad') as Extract<Calibrated, { ok: false }>;
    const { find, one } = await shown(bad);
    expect(textOf(one('h3'))).toBe(`These runs cannot be used because of ${bad.problems.length} problems`);
    expect(find('textbox').getAttribute('aria-invalid')).toBe('true');
    expect(one('#calibrate-result').querySelectorAll('li')).toHaveLength(bad.problems.length);
});
