import { expect, test } from 'vitest';
import { format } from '../format/format';
import { moneyOf, summaryOf, timeOf } from './answer-words';
import { answeredOf, pageOf } from './test-data';

const { page, answer } = answeredOf();
const said = (step_seconds: number, low_seconds: number, high_seconds: number): string =>
    timeOf({ ...answer, time: { ...answer.time, step_seconds, low_seconds, high_seconds, run: null } }).replace(/\s/g, ' ');

test('a price of the reader’s own is in the reader’s currency', () => {
    const cost = (price: number | 'auto') =>
        timeOf({ ...answer, job: { ...answer.job, price_per_gpu_hour: price } }).match(/Cost: [^.]*\./)?.[0];
    expect(cost('auto')).toMatch(/^Cost: \$[\d,]+\.$/);
    expect(cost(2)).toMatch(/^Cost: [\d,]+ in your currency\.$/);
});

test('a cost has three digits wherever it stands', () => {
    const told = [65.78, 64.9, 9.876, 123456, 99.97].map((cost) => moneyOf({ price_per_gpu_hour: 'auto' }, cost));
    expect(told).toEqual(['$65.80', '$64.90', '$9.88', '$123,000', '$100']);
    expect(moneyOf({ price_per_gpu_hour: 2 }, 65.78)).toBe('65.8');
});

test('a band that lies evenly about the time is told by one number, an uneven one by its ends', () => {
    const { step_seconds, low_seconds, high_seconds } = answer.time;
    const margin = format.margin(step_seconds, low_seconds, high_seconds).replace(/\s/g, ' ');
    expect(said(step_seconds, low_seconds, high_seconds)).toContain(`, give or take ${margin}.`);
    expect(said(41.5, 39, 47.7)).toMatch(/^One step takes 41\.5 s \(.*\), or anything from 39\.0 s to 47\.7 s\.$/);
    expect(said(41.5, 33, 43)).toMatch(/ or anything from 33\.0 s to 43\.0 s\.$/);
    expect(said(10, 6, 14.5)).toContain('give or take 4.5 s');
});

test('what trains adapters alone is never told as a training of the model', () => {
    const tuned = { ...answer, job: { ...answer.job, trained: 'lora' as const } };
    expect(summaryOf(page)).toMatch(/^Llama 3.1 8B on 8/);
    const cannot = pageOf('broken-rules');
    expect(summaryOf({ ...cannot, job: { ...cannot.job, trained: 'lora' } })).toMatch(/^Llama 3.1 8B \(LoRA\) on .* cannot work/);
    expect(summaryOf({ ...page, answer: tuned })).toMatch(/^Llama 3.1 8B \(LoRA\) on 8/);
});
