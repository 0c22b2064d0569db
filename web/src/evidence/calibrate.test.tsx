import { expect, test, vi } from 'vitest';
import type { Calibrated } from '../core/api';
import { format } from '../format/format';
import { bytes } from '../format/in-words';
import { goodOf, pageOf, refusalOf } from '../shared/test-data';
import { cellsOf, choose, later, plain, show, spies, tap, textOf, unfold, write } from '../shared/test-view';
import type { Page } from '../store/page';
import { Calibrate } from './calibrate';
import { withTabs } from './calibrate-rows';
import { keepRuns, keptRuns, type Typed } from './kept-runs';

const good = goodOf('calibrate', 'calibrate');
const printed = goodOf('read_run', 'run-steps');
const rates = goodOf('calibrate', 'calibrate-rates'); // TFLOP/s and memory, with a plan that is left to the search

async function shown(answer: Calibrated, text: string | null = 'gpus tp', changes: Partial<Page> = {}) {
    vi.useFakeTimers();
    const calibrate = vi.fn(async (_: object, __: string, ___: string | null) => answer);
    const readRun = vi.fn(async () => printed);
    const [act, setTyped] = [spies(), vi.fn()];
    const page = pageOf('default', changes);
    const typed: Typed = { text, convention: null };
    const view = show(<Calibrate page={page} act={act} calibrate={calibrate} readRun={readRun} typed={typed} setTyped={setTyped} />);
    await later(1);
    return { act, calibrate, readRun, setTyped, page, ...view };
}
const typed = (text: string): Typed => ({ text, convention: null });

test('the runs are asked about, and the usual header stands there before anything is typed', async () => {
    const { calibrate, find, setTyped } = await shown(good, null);
    expect(calibrate.mock.calls[0]).toEqual([expect.objectContaining({ model: 'llama-3.1-8b' }), '', null]);
    expect(setTyped).toHaveBeenCalledWith(typed(`${good.text.header}\n`));
    write(find('textbox', 'Your runs'), 'gpus');
    expect(setTyped).toHaveBeenLastCalledWith(typed('gpus'));
});

test('digits of full width are digits', async () => {
    const { calibrate } = await shown(good, 'gpus tokens_per_s\n８ ６７０００');
    expect(calibrate.mock.calls[0]?.[1]).toBe('gpus tokens_per_s\n8 67000');
});

test('nothing is written into the field of somebody who is about to type', async () => {
    vi.useFakeTimers();
    let answered = (_: Calibrated): void => {};
    const calibrate = () =>
        new Promise<Calibrated>((resolve) => {
            answered = resolve;
        });
    const setTyped = vi.fn();
    const view = show(
        <Calibrate
            page={pageOf('default')}
            act={spies()}
            calibrate={calibrate}
            readRun={vi.fn()}
            typed={{ text: null, convention: null }}
            setTyped={setTyped}
        />,
    );
    (view.find('textbox', 'Your runs') as HTMLTextAreaElement).focus();
    await later(1);
    answered(good);
    await later(1);
    expect(setTyped).not.toHaveBeenCalled();
});

test('a pasted table with its own names of columns replaces the usual header; rows go below it', async () => {
    const { find, setTyped } = await shown(good, `${good.text.header}\n`);
    paste(find('textbox', 'Your runs'), '8,1,4,1,130');
    await later(1);
    expect(setTyped).not.toHaveBeenCalledWith(typed('8,1,4,1,130'));
    paste(find('textbox', 'Your runs'), 'gpus,tp,step_seconds\n8,1,130');
    expect(setTyped).toHaveBeenCalledWith(typed('gpus,tp,step_seconds\n8,1,130'));
});

test('what they say, run by run, and how far off the estimate is', async () => {
    const { box, text } = await shown(good);
    expect(text()).toContain(plain(`${format.percent(good.before?.mean_error ?? 0)}`));
    const [head, ...rows] = cellsOf(unfold(box, 'As a table'));
    expect(head).toHaveLength(6);
    expect(rows.map(([, measured, estimated]) => [measured, estimated])).toEqual(
        good.rows.map((row) => [plain(format.duration(row.step_seconds ?? 0)), plain(format.duration(row.estimated_seconds))]),
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
    const { find, setTyped } = await shown(good, 'gpus tp\n');
    tap(find('button', 'Add the plan shown'));
    expect(setTyped).toHaveBeenLastCalledWith(typed(`gpus tp\n${good.text.line}`));
});

test('runs that cannot be used say why', async () => {
    const bad = refusalOf('calibrate-bad') as Extract<Calibrated, { ok: false }>;
    const { find, one } = await shown(bad);
    expect(textOf(one('h3'))).toBe(`These runs cannot be used because of ${bad.problems.length} problems`);
    expect(find('textbox').getAttribute('aria-invalid')).toBe('true');
    expect(one('#calibrate-result').querySelectorAll('li')).toHaveLength(bad.problems.length);
});

test('a rate in FLOP/s asks what counts; seconds do not', async () => {
    const { all, find, setTyped } = await shown(rates);
    const choice = find('combobox', 'How FLOP are counted');
    expect(choice.querySelectorAll('option')).toHaveLength(1 + rates.text.conventions.length);
    choose(choice, 'full');
    expect(setTyped).toHaveBeenLastCalledWith({ text: 'gpus tp', convention: 'full' });
    const seconds = await shown(good);
    expect(seconds.all('combobox')).toEqual([]);
    expect(all('combobox')).toHaveLength(1);
});

test('runs that a calibration rests on come back with it, and with no other', () => {
    const { job } = pageOf();
    const set = { time_factor: 1.1 };
    const typed = { text: 'gpus\n8\n', convention: null };
    keepRuns(typed, set);
    expect(keptRuns({ ...job, ...set })).toEqual(typed);
    expect(keptRuns(job)).toEqual({ text: null, convention: null });
    localStorage.clear();
    expect(keptRuns({ ...job, ...set })).toEqual({ text: null, convention: null });
});

test('memory stands beside the time, with its correction and what the search filled in', async () => {
    const { box, text } = await shown(rates);
    expect(rates.memory?.kind).toBe('factor');
    const [before, after] = [rates.memory?.before.mean_error ?? 0, rates.memory?.after.mean_error ?? 0].map(format.percent);
    expect(text()).toContain(plain(`by ${after} on average, without it by ${before}`));
    const [head, ...rows] = cellsOf(unfold(box, 'As a table'));
    expect(head).toHaveLength(11);
    rates.rows.forEach((row, i) => {
        expect(rows[i]?.[6]).toBe(plain(bytes(row.memory?.bytes ?? 0)));
        expect(rows[i]?.[10]).toContain(`${row.filled.context_parallel}`);
    });
});

function paste(field: Element, text: string): void {
    const event = Object.assign(new Event('paste', { bubbles: true, cancelable: true }), { clipboardData: { getData: () => text } });
    field.dispatchEvent(event);
}

test('what a run printed, pasted into the empty table or below rows of its kind, becomes its row; elsewhere it does not', async () => {
    const empty = await shown(good, '');
    paste(empty.find('textbox', 'Your runs'), 'iteration 1');
    await later(1);
    expect(empty.readRun).toHaveBeenCalledWith({ text: 'iteration 1' });
    expect(empty.setTyped).toHaveBeenLastCalledWith(typed(printed.runs_text));
    const filled = await shown(good, 'gpus,step_seconds\n8,1');
    paste(filled.find('textbox', 'Your runs'), 'iteration 1');
    await later(1);
    expect(filled.setTyped).not.toHaveBeenCalled();
    const [head, row] = printed.runs_text.trim().split('\n');
    const second = await shown(good, `${head}\n512,9.2\n`);
    paste(second.find('textbox', 'Your runs'), 'iteration 1');
    await later(1);
    expect(second.setTyped).toHaveBeenLastCalledWith(typed(`${head}\n512,9.2\n${row}\n`));
});

test('a table as Markdown has it is taken, with tabs', async () => {
    const table = '| gpus | tp | step time |\n|---:|:--|--|\n| 8 | 1 | 130 s |\n';
    for (const before of ['', `${good.text.header}\n`]) {
        const { find, setTyped } = await shown(good, before);
        paste(find('textbox', 'Your runs'), table);
        expect(setTyped).toHaveBeenCalledWith(typed('gpus\ttp\tstep time\n8\t1\t130 s\n'));
    }
    expect(withTabs('a|b')).toBe('a|b');
});
