import { expect, test } from 'vitest';
import type { Run } from '../core/api';
import type { Heat } from '../core/heat';
import { format } from '../format/format';
import { answeredOf, goodOf, heatOf, refusalOf } from '../shared/test-data';
import { plain, show, spies } from '../shared/test-view';
import { allAuto } from '../state/state';
import type { Page } from '../store/page';
import { Next } from './next';

function shown(name = 'llama-70b-64-h100', changes: Partial<Page> = {}) {
    const { page, answer } = answeredOf(name, changes);
    const act = spies();
    return { act, page, answer, ...show(<Next page={page} answer={answer} act={act} />) };
}

test('six questions, each a way to its full answer', () => {
    const { act, all } = shown();
    expect(all('link').map((link) => link.getAttribute('href'))).toEqual([
        '#limits',
        '#gpus',
        '#limits',
        '#cards',
        '#calibrate',
        '#placement',
    ]);
    expect(act.wantLimits).toHaveBeenCalledTimes(1);
});

test('the answers come with the limits and the map', () => {
    const limits = goodOf('limits', 'limits-70b');
    const { text } = shown('llama-70b-64-h100', { limits });
    expect(text()).toContain(plain(`${limits.fewest_gpus?.gpus} GPUs are enough`));
    expect(text()).toContain(plain(`Up to ${limits.largest_sequence?.value.toLocaleString('en')} tokens`));
    expect(text()).toContain(' hours a step'); // what fits need not be worth it
});

test('one GPU has no fewer and is no “these”; where nothing fits no length does', () => {
    const limits = goodOf('limits', 'limits-70b');
    const { page, answer } = answeredOf('default', {
        limits: { ...limits, fewest_gpus: limits.fewest_gpus && { ...limits.fewest_gpus, gpus: 1 } },
    });
    const one = show(<Next page={page} answer={{ ...answer, job: { ...answer.job, gpus: 1 } }} act={spies()} />).text();
    expect(one).toMatch(/^Faster\?/); // than one there are no fewer
    const { largest_sequence: _, ...rest } = limits;
    const alone = answeredOf('default', { limits: { ...rest, largest_sequence: null } });
    const single = show(<Next page={alone.page} answer={{ ...alone.answer, job: { ...alone.answer.job, gpus: 1 } }} act={spies()} />);
    expect(single.text()).toContain('On this GPU.');
    const none = shown('does-not-fit', { limits: { ...limits, largest_sequence: null } }).text();
    expect(none).toContain('Longer sequences? No length fits On these');
});

test('where nothing longer fits, that is the answer', () => {
    const limits = goodOf('limits', 'limits-70b');
    const { largest_sequence: found } = limits;
    if (!found) throw new Error('some length fits the golden job');
    const at = (value: number) => shown('llama-70b-64-h100', { limits: { ...limits, largest_sequence: { ...found, value } } }).text();
    for (const value of [1024, 8192])
        expect(at(value)).toContain(`None longer ${value.toLocaleString('en')} tokens is the longest that fits.`);
    expect(at(8448)).toContain('Up to 8,448 tokens');
});

test('beyond what the model was made for, the tile says for what that is', () => {
    const limits = goodOf('limits', 'limits-70b');
    const { largest_sequence: found } = limits;
    if (!found) throw new Error('some length fits the golden job');
    const notes = [{ id: 'largest.sequence.beyond_model', args: { positions: 131_072 } }];
    const { text } = shown('llama-70b-64-h100', { limits: { ...limits, largest_sequence: { ...found, value: 496_640, notes } } });
    expect(text()).toMatch(/Up to 496,640 tokens .* a step; the model was made for up to 131,072\./);
});

test('a share of time has two digits: of 512 GPUs to 1 it is about 580', () => {
    const limits = goodOf('limits', 'limits-70b');
    const { fewest_gpus: found } = limits;
    if (!found) throw new Error('some number fits the golden job');
    const { page, answer } = answeredOf('llama-70b-64-h100', {
        limits: { ...limits, fewest_gpus: { ...found, step_seconds: 578.6 } },
    });
    const at = { ...answer, time: { ...answer.time, step_seconds: 1 } };
    expect(show(<Next page={page} answer={at} act={spies()} />).text()).toContain('It then takes 580 times as long.');
});

test('where the field ends before the memory does, the end is a least', () => {
    const limits = goodOf('limits', 'limits-70b');
    const { largest_sequence: found } = limits;
    if (!found) throw new Error('some length fits the golden job');
    const most = { ...found, value: 16_777_216, limited_by: 'range' as const };
    expect(shown('llama-70b-64-h100', { limits: { ...limits, largest_sequence: most } }).text()).toContain(
        plain('16.8 million tokens and more'),
    );
});

test('how long it takes there is told by a number above one', () => {
    const limits = goodOf('limits', 'limits-70b');
    const { answer } = shown();
    const fewest = limits.fewest_gpus as NonNullable<typeof limits.fewest_gpus>;
    const at = (times: number) => ({ ...limits, fewest_gpus: { ...fewest, step_seconds: times * answer.time.step_seconds } });
    expect(shown('llama-70b-64-h100', { limits: at(3.21) }).text()).toContain('It then takes 3.2 times as long.');
    expect(shown('llama-70b-64-h100', { limits: at(0.25) }).text()).toContain('It is then 4 times as fast.');
});

// The map of a run on 264 GPUs, with so many seconds a step on each number; efficiency as the core counts it.
function mapOf(steps: Record<number, number | null>): Heat {
    const sizes = Object.entries(steps).map(([gpus, step], entry) => ({
        gpus: Number(gpus),
        entry: step === null ? null : entry,
        efficiency: step && 1 / (step * Number(gpus)),
        run: null,
    }));
    const columns = { ...heatOf().columns, step_seconds: Float64Array.from(Object.values(steps).map((step) => step ?? 0)) };
    return { ...heatOf(), columns, summary: { ...heatOf().summary, sizes } };
}
function fewer(steps: Record<number, number | null>, now: number, fewest = { gpus: 20, step: 200 }, changes: Partial<Page> = {}): string {
    const limits = goodOf('limits', 'limits-70b');
    if (!limits.fewest_gpus) throw new Error('the golden run fits on some number of GPUs');
    const { page, answer } = answeredOf();
    const at = { ...limits, fewest_gpus: { ...limits.fewest_gpus, gpus: fewest.gpus, step_seconds: fewest.step } };
    const here = { ...answer, job: { ...answer.job, gpus: now }, time: { ...answer.time, step_seconds: steps[now] ?? 1 } };
    const job = { ...page.job, ...allAuto(page.catalog) };
    const whole = { ...page, job, heat: mapOf(steps), heatOf: job, limits: at, ...changes };
    return show(<Next page={whole} answer={here} act={spies()} />).text();
}

test('fewer GPUs that are faster than all of them come first', () => {
    const uneven = { 132: 60, 256: 32, 264: 37.7, 528: 20 };
    expect(fewer(uneven, 264)).toContain(plain(`Fewer GPUs? 256 GPUs: ${format.duration(32)} a step It is then 1.2 times as fast.`));
    const own = { ...answeredOf().page.job, tensor_parallel: 8 };
    expect(fewer(uneven, 264, undefined, { job: own, heatOf: own })).toContain('20 GPUs are enough');
    expect(fewer({ ...uneven, 256: 38 }, 264)).toContain('20 GPUs are enough');
    expect(fewer({ ...uneven, 264: null }, 264)).toContain('20 GPUs are enough');
});

test('where the fewest GPUs that are enough mostly wait, a number on which they do not is said too', () => {
    const steps = { 512: 110, 1024: 50, 2048: 25 };
    expect(fewer(steps, 2048, { gpus: 208, step: 2300 })).toContain(
        plain(`208 GPUs are enough It then takes 92 times as long. 512 GPUs: ${format.duration(110)} a step`),
    );
    expect(fewer(steps, 2048, { gpus: 208, step: 400 })).toContain('It then takes 16 times as long.Faster?');
    expect(fewer({ ...steps, 512: 300 }, 2048, { gpus: 208, step: 2300 })).toContain(plain(`1,024 GPUs: ${format.duration(50)} a step`));
});

test('a map of another run says nothing yet; of this one, what more GPUs bring', () => {
    const heat = { ...heatOf(), summary: { ...heatOf().summary, faster: 4 } };
    const { page, answer } = answeredOf();
    const few = { ...answer, job: { ...answer.job, gpus: 2 } };
    const old = show(<Next page={{ ...page, heat, heatOf: null }} answer={few} act={spies()} />);
    expect(old.text()).toMatch(/Faster\? One moment…/);
    const now = show(<Next page={{ ...page, heat, heatOf: page.job }} answer={few} act={spies()} />);
    expect(now.text()).toContain('Faster? 4 GPUs: ');
    const none = { ...heat, summary: { ...heat.summary, faster: null } };
    const slow = show(<Next page={{ ...page, heat: none, heatOf: page.job }} answer={few} act={spies()} />);
    expect(slow.text()).toContain('Faster? See the table');
});

test('what more GPUs do is told beside the best plan on as many as now, of whatever plan is shown', () => {
    const heat = heatOf();
    const sizes = [1, 8].map((gpus, entry) => ({ gpus, entry, efficiency: null, run: null as Run | null }));
    const columns = { ...heat.columns, step_seconds: Float64Array.of(98, 12.5) };
    const { page, answer } = answeredOf();
    const slow = { ...answer, job: { ...answer.job, gpus: 1 }, time: { ...answer.time, step_seconds: 1000 } };
    const of = (list: typeof sizes) => ({
        ...page,
        heat: { ...heat, columns, summary: { ...heat.summary, sizes: list, faster: 8 } },
        heatOf: page.job,
    });
    const text = (list: typeof sizes, shown = slow) => show(<Next page={of(list)} answer={shown} act={spies()} />).text();
    expect(text(sizes)).toContain(plain('Each GPU does 98 % of its work here with the best plan.'));
    expect(text(sizes.slice(1))).not.toContain('Each GPU does');
    // A plan shown that is faster than the map's is the best one here: its time is the one that the reader sees.
    const quick = { ...slow, class: 'fits' as const, time: { ...slow.time, step_seconds: 95 } };
    expect(text(sizes, quick)).toContain('Each GPU does 95 % of its work');
    const run = { days: 40, cost: 1_490_000 } as Run;
    expect(text(sizes.map((one) => ({ ...one, run })))).toContain(plain('8 GPUs: 40 days · $1.49 M'));
    // what recomputation holds back here is no measure of more GPUs
    columns.step_seconds[0] = 240;
    expect(text(sizes)).not.toContain('Each GPU does');
});

test('of a run that is wrong nothing comes, and nothing is promised', () => {
    const { problems } = refusalOf('broken-rules');
    const { text } = shown('llama-70b-64-h100', { problems });
    expect(text()).not.toContain('One moment…');
    expect(text().match(/See the table/g)).toHaveLength(3);
});

test('nothing is faster than a run that does not fit: how long it takes is said alone', () => {
    const limits = goodOf('limits', 'limits-70b');
    const { page, answer, text } = shown('does-not-fit', { limits });
    const { gpus, step_seconds } = limits.fewest_gpus ?? { gpus: 0, step_seconds: 0 };
    const days = ((answer.time.run?.days ?? 0) * step_seconds) / answer.time.step_seconds;
    expect(text()).toContain(plain(`${gpus} GPUs are enough ${format.training(days, days, days)[0]}Faster?`));
    expect(text()).not.toMatch(/times as (fast|long)/);
    const none = { ...answer, time: { ...answer.time, run: null } };
    const step = show(<Next page={page} answer={none} act={spies()} />).text();
    expect(step).toContain(plain(`${gpus} GPUs are enough ${format.duration(step_seconds)} a step`));
});

test('where nothing fits the question is how many are enough', () => {
    expect(shown('does-not-fit').text()).toContain('How many GPUs are enough?');
    const none = { ...goodOf('limits', 'limits-70b'), fewest_gpus: null };
    expect(shown('does-not-fit', { limits: none }).text()).toMatch(/None up to [\d,]+ GPUs/);
});

test('where no number is enough for a plan of the reader’s own, the tile blames what was set and names the first number without it', () => {
    const none = { ...goodOf('limits', 'limits-70b'), fewest_gpus: null, largest_sequence: null };
    const { page, answer } = answeredOf('does-not-fit', { limits: none });
    const job = { ...page.job, tensor_parallel: 8 };
    const text = (changes: Partial<Page> = {}) => show(<Next page={{ ...page, job, ...changes }} answer={answer} act={spies()} />).text();
    expect(text()).toContain('None with your settings Faster?'); // the map is on its way
    const mapped = text({ heat: mapOf({ 16: null, 32: 280, 64: 125 }), heatOf: job });
    expect(mapped).toContain(plain(`None with your settings Without them, 32 GPUs: ${format.duration(280)} a step`));
    expect(mapped).toContain('Longer sequences? None with your settings On these');
});

test('that no fewer are enough is said of this run: where the reader has set a split, another one may need fewer', () => {
    const job = { ...answeredOf().page.job, tensor_parallel: 8 };
    const steps = { 64: 125 };
    expect(fewer(steps, 64, { gpus: 64, step: 125 })).toContain('64 GPUs are enough With fewer, it does not fit.');
    const own = fewer(steps, 64, { gpus: 64, step: 125 }, { job, heatOf: job });
    expect(own).toContain('64 GPUs are enough With fewer, it does not fit.');
});
