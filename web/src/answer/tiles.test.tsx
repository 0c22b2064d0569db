import { expect, test } from 'vitest';
import type { Estimate, Run } from '../core/api';
import { format } from '../format/format';
import { answeredOf, pageOf } from '../shared/test-data';
import { plain, show, spies, write } from '../shared/test-view';
import type { Page } from '../store/page';
import { Tiles, TokenBudget, WrongBudget } from './tiles';

const run: Run = {
    tokens: 1e12,
    steps: 119_210,
    days: 138,
    low_days: 124,
    high_days: 152,
    gpu_hours: 26_500,
    price_per_gpu_hour: 3.99,
    cost: 105_735,
    watts_per_gpu: 1092,
    energy_kwh: 28_900,
    co2_kg: 12_860,
};
function shown(changes: Partial<Run> | null, job: Partial<Page['job']> = {}) {
    const { page, answer } = answeredOf();
    const told: Estimate = { ...answer, time: { ...answer.time, run: changes && { ...run, ...changes } } };
    const act = spies();
    return { act, answer, ...show(<Tiles page={{ ...page, job: { ...page.job, ...job } as Page['job'] }} answer={told} act={act} />) };
}

test('days, money and energy, each with what it rests on', () => {
    const { find, text, answer } = shown({});
    expect(text()).toContain(
        plain(`It takes 138 days Between 124 and 152 days. 119,210 steps of ${format.duration(answer.time.step_seconds)}.`),
    );
    expect(text()).toContain('It costs about $106,000 at $3.99 per GPU and hour. List price of September 2026');
    expect(find('link', /^List price/).getAttribute('href')).toBe('https://lambda.ai/instances');
    expect(text()).toContain(plain('It uses 28.9 MWh at 1,092 watts per GPU. That is 12.9 t of CO₂ at 445 g per kWh.'));
});

test('each number of the budget is changed where it stands; emptied, it is the usual one again', () => {
    const { act, all } = shown({ price_per_gpu_hour: 2.5 }, { price_per_gpu_hour: 2.5 });
    const [price, watts, grid] = all<HTMLInputElement>('textbox');
    if (!price || !watts || !grid) throw new Error('three fields');
    expect([price.value, watts.value, watts.placeholder, grid.value]).toEqual(['2.5', '', '1,092', '445']);
    write(price, '');
    write(watts, '700');
    write(grid, '20');
    expect(act.change.mock.calls).toEqual([
        [{ price_per_gpu_hour: 'auto' }, 'type'],
        [{ watts_per_gpu: 700 }, 'type'],
        [{ grid_co2_per_kwh: 20 }, 'type'],
    ]);
});

test('a price of the reader is in the reader’s currency, and has no source', () => {
    const { text, names } = shown({ price_per_gpu_hour: 2.5, cost: 66_250 }, { price_per_gpu_hour: 2.5 });
    expect(text()).toContain('It costs about 66,300 at 2.5 per GPU and hour. In your currency.');
    expect(names('link')).toEqual([]);
});

test('a list price belongs to the GPU that it names, where the run has one of the reader’s own', () => {
    const { text } = shown({}, { gpu: 'custom', 'gpu.base': 'h100-sxm-80gb', 'gpu.usd_per_gpu_hour': 'auto' });
    expect(text()).toContain('List price of September 2026 (H100 SXM 80 GB)');
});

test('a price that a report assumes is no list price', () => {
    const { find, text } = shown({}, { gpu: 'h800-sxm-80gb' });
    expect(text()).not.toContain('List price');
    expect(find('link', 'Assumed, December 2024: not offered publicly').getAttribute('href')).toContain('arxiv.org');
});

test('what nobody knows is asked for', () => {
    const { text } = shown({ price_per_gpu_hour: null, cost: null, watts_per_gpu: null, energy_kwh: null, co2_kg: null });
    expect(text()).toContain('No price known');
    expect(text()).toContain('No power known');
});

test('without tokens the time of a step stands alone', () => {
    const { answer, text, all } = shown(null);
    expect(text()).toContain(plain(`${format.duration(answer.time.step_seconds)} a step`));
    expect(text()).toContain('Give the tokens to see days and cost.');
    expect(all('textbox')).toEqual([]);
});

test('a price that cannot be read is mended where it is named', () => {
    const problems = pageOf('bad-request').problems.map((problem) => ({ ...problem, field: 'price_per_gpu_hour' }));
    const act = spies();
    const { find } = show(<WrongBudget page={pageOf('default', { problems })} act={act} />);
    write(find('textbox', /^Price per GPU and hour/), '2');
    expect(act.change).toHaveBeenCalledWith({ price_per_gpu_hour: 2 }, 'type');
    expect(show(<WrongBudget page={pageOf()} act={act} />).text()).toBe('');
});

test('how many tokens: the usual number stands in the field until one is typed', () => {
    const { page } = answeredOf();
    const act = spies();
    const { all } = show(<TokenBudget page={page} act={act} />);
    const [tokens] = all<HTMLInputElement>('textbox');
    expect(tokens?.placeholder).toBe('161 billion');
    write(tokens as HTMLInputElement, '2000000000');
    expect(act.change).toHaveBeenCalledWith({ token_budget: 2e9 }, 'type');
});

test('a run without tokens, as a pasted one may be: the field is empty and asks for them', () => {
    const { page, answer } = answeredOf();
    const without = { ...page, job: { ...page.job, token_budget: 0 }, answer: { ...answer, time: { ...answer.time, run: null } } };
    const { all } = show(<TokenBudget page={without} act={spies()} />);
    const [tokens] = all<HTMLInputElement>('textbox');
    expect([tokens?.value, tokens?.placeholder]).toEqual(['', 'how many?']);
    write(tokens as HTMLInputElement, '0');
    expect(tokens?.value, 'while it is typed').toBe('0');
});
