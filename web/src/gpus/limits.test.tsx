import { expect, test } from 'vitest';
import { format } from '../format/format';
import { goodOf, pageOf } from '../shared/test-data';
import { cellsOf, show, spies, tap, textOf, unfold, write } from '../shared/test-view';
import type { Page } from '../store/page';
import { Limits } from './limits';

const limits = goodOf('limits', 'limits-70b');
const job = { ...pageOf().job, model: 'llama-3.1-70b', gpus: 64, token_budget: 1e12, price_per_gpu_hour: 2.5 };

function shown(changes: Partial<Page> = {}) {
    const act = spies();
    const page = { ...pageOf('default', { job, limits }), ...changes };
    return { act, ...show(<Limits page={page} act={act} />) };
}

test('it asks for its answers once it is there', () => {
    const { act, names, text } = shown({ limits: null, limitsStale: true });
    expect(act.wantLimits).toHaveBeenCalledTimes(1);
    expect(names('heading')).toEqual(['How far does it go? Counting…']);
    expect(text()).toBe('How far does it go? Counting…');
});

test('a run that is wrong is not being counted; what is wrong with its tokens stands below their line', () => {
    const [problem] = pageOf('broken-rules').problems;
    if (!problem) throw new Error('a problem was expected');
    const wrong = { ...problem, field: 'token_budget', message: { id: 'No number.' } };
    const { names, one } = shown({ limitsStale: true, problems: [wrong], job: { ...job, token_budget: 'many' } });
    expect(names('heading')).toEqual(['How far does it go?']);
    expect(textOf(one('.in-time'))).toMatch(/tokens in 30 days: No number\./);
});

test('every answer is a button that takes it', () => {
    const { act, all } = shown();
    for (const button of all('button').filter((one) => /GPUs|tokens|sequence/.test(textOf(one)))) tap(button);
    const taken = act.change.mock.calls.map(([values]) => values);
    expect(taken).toContainEqual({ gpus: limits.fewest_gpus?.gpus });
    expect(taken).toContainEqual({ gpus: limits.fewest_in_time?.gpus });
    expect(taken).toContainEqual({ sequence_length: limits.largest_sequence?.value });
    expect(taken).toContainEqual({ micro_batch: limits.largest_micro_batch?.value });
});

test('the days and the tokens are fields; a mistake in the days stands by them', () => {
    const { act, find } = shown();
    write(find('textbox', 'Days for the whole run'), '10');
    expect(act.setDays).toHaveBeenLastCalledWith(10);
    for (const [typed, days] of [
        ['1 week', 7],
        ['1 month', 30],
        ['３か月', 90],
        ['1.5 weeks', 11],
        ['2 个月', 60],
    ] as const) {
        write(find('textbox', 'Days for the whole run'), typed);
        expect(act.setDays, typed).toHaveBeenLastCalledWith(days);
    }
    write(find('textbox', 'Days for the whole run'), '10');
    expect(location.search).toBe('?limits=10');
    const linked = shown();
    expect(linked.act.setDays, 'a link has them').toHaveBeenCalledWith(10);
    expect(linked.find<HTMLInputElement>('textbox', 'Days for the whole run').value).toBe('10');
    history.replaceState(null, '', '?');
    write(find('textbox', 'Tokens of the whole run'), '2e12');
    expect(act.change).toHaveBeenCalledWith({ token_budget: 2e12 }, 'type');
    const [problem] = pageOf('broken-rules').problems;
    const wrong = shown({ limitsProblems: problem ? [{ ...problem, field: 'days' }] : [] });
    expect(wrong.find('textbox', 'Days for the whole run').getAttribute('aria-describedby')).toBe('limits-days-problem');
});

test('what was not asked, is being counted, or is nowhere, is told', () => {
    const words = (changes: Partial<Page>) => textOf(shown(changes).one('.in-time'));
    const asked = words({});
    const texts = [
        words({ job: { ...job, token_budget: 0 } }),
        words({ days: 10 }),
        words({ limits: { ...limits, fewest_in_time: null } }),
    ];
    expect(new Set([asked, ...texts]).size).toBe(4);
});

test('every model of the catalogue, with what it needs here', () => {
    const { box } = shown();
    expect(textOf(box)).toContain(`Of the ${limits.models.length} models that are tried (more can be named) the largest that fits`);
    const [, ...rows] = cellsOf(unfold(box, `All ${limits.models.length} models that are tried`));
    expect(rows).toHaveLength(limits.models.length);
    limits.models.forEach((model, i) => {
        expect(rows[i]?.[0]).toBe(model.label);
        if (model.plan) expect(rows[i]?.[3]).toBe(format.gb(model.whole_bytes));
        else expect(rows[i]).toHaveLength(3);
    });
});

test('nothing fits: it says so, without a number', () => {
    const nothing = { fewest_gpus: null, fewest_in_time: null, largest_micro_batch: null, largest_batch: null, largest_sequence: null };
    const { names } = shown({
        limits: { ...limits, ...nothing, models: limits.models.map((model) => ({ ...model, fits: false })) as never },
    });
    expect(
        names('button')
            .filter((name) => /^Take/.test(name))
            .every((name) => limits.models.some(({ label }) => name.includes(label))),
    ).toBe(true);
});

test('one GPU is not “1 GPUs”', () => {
    const one = { ...limits, job: { ...limits.job, gpus: 1 }, fewest_gpus: limits.fewest_gpus && { ...limits.fewest_gpus, gpus: 1 } };
    const { text } = shown({ limits: one });
    expect(text()).toContain('The fewest GPUs on which it fits: 1 GPU ');
    expect(text()).toContain('The longest sequence on 1 GPU:');
    expect(text()).not.toMatch(/\b1 GPUs/);
});

test('what is kept as it is set stands before what it narrows', () => {
    const kept = { id: 'searched.kept', args: { kept: ['field.micro_batch'].map((id) => ({ id })) } } as const;
    const searched = { ...limits.searched, notes: [...limits.searched.notes, kept] };
    const { text } = shown({ limits: { ...limits, searched } });
    expect(text()).toContain('Kept as set: ');
    expect(text().indexOf('Kept as set: ')).toBeLessThan(text().indexOf('The fewest GPUs on which it fits'));
    expect(text()).toMatch(/Tried: every number .* stays as it is\.$/);
});
