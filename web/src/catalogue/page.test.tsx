import { expect, test } from 'vitest';
import { format } from '../format/format';
import { catalog, goodOf } from '../shared/test-data';
import { cellsOf, plain, show, textOf } from '../shared/test-view';
import { defaults } from '../state/state';
import { answerOfRun, ListPage, RunPage, titleOfRun } from './page';
import type { CatalogueRun } from './runs';

const find = <Profile extends { id: string }>(all: readonly Profile[], id: string): Profile => all.find((one) => one.id === id) as Profile;
const none = { price_per_gpu_hour: null, cost: null, watts_per_gpu: null, energy_kwh: null, co2_kg: null, tokens: 1.4e12 };
const whole = { steps: 10, days: 40, low_days: 36, high_days: 45, gpu_hours: 61_440, ...none };
const fits = goodOf('estimate', 'llama-70b-64-h100');
const tooLarge = goodOf('estimate', 'does-not-fit');
const run: CatalogueRun = {
    model: find(catalog.models, 'llama-3.1-70b'),
    gpu: find(catalog.gpus, 'h100-sxm-80gb'),
    job: { ...defaults(catalog), model: 'llama-3.1-70b' },
    tokens: 1.4e12,
    fewest: goodOf('limits', 'limits-70b').fewest_gpus,
    estimates: [
        { gpus: 8, answer: tooLarge },
        { gpus: 64, answer: { ...fits, time: { ...fits.time, run: whole } } },
    ],
};

test('how many at least, how long, and each number of GPUs with its verdict and its link', () => {
    const { all, find, text, one } = show(<RunPage run={run} catalog={catalog} />);
    expect(textOf(find('heading'))).toBe('How many H100 SXM 80 GB GPUs does it take to train Llama 3.1 70B?');
    expect(text()).toContain(plain(`at least ${format.count(run.fewest?.gpus ?? 0)} GPUs of the kind H100 SXM 80 GB.`));
    expect(text()).toContain(plain('On 64 of them, 1.4 trillion tokens (20 per parameter) take about 40 days.'));
    const [, small, large] = cellsOf(one('table'));
    expect(small?.slice(0, 2)).toEqual(['8 GPUs', 'It does not fit.']);
    expect(small?.slice(3)).toEqual(['–', '–']);
    expect(large).toEqual([
        '64 GPUs',
        'It fits.',
        plain(`${format.headline(fits.whole_bytes, fits.card_bytes)} GB (${format.percent(fits.whole_bytes / fits.card_bytes)})`),
        plain('40 days (36 to 45)'),
        format.rounded(whole.gpu_hours),
    ]);
    const link = all('link').find((one) => textOf(one) === '64 GPUs');
    expect(link?.getAttribute('href')).toMatch(/^\.\.\/\.\.\/\.\.\/\?v=2&model=llama-3\.1-70b&.*gpus=64/);
});

test('a model for which there are never enough GPUs', () => {
    const none = { ...run, fewest: null, estimates: [{ gpus: 8, answer: tooLarge }] };
    expect(answerOfRun(none)).toMatch(/^No plan was found that trains Llama 3\.1 70B/);
    expect(show(<RunPage run={none} catalog={catalog} />).text()).toContain('It does not fit.');
    expect(titleOfRun(none)).toMatch(/ – Fourfold$/);
});

test('the list leads to each page by the fewest GPUs', () => {
    const { all } = show(<ListPage runs={[run]} />);
    const link = all('link').find((one) => textOf(one) === format.count(run.fewest?.gpus ?? 0));
    expect(link?.getAttribute('href')).toBe('llama-3.1-70b/h100-sxm-80gb/');
});
