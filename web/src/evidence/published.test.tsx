import { expect, test, vi } from 'vitest';
import type { Estimate } from '../core/api';
import { answeredOf, catalog, goodOf, refusalOf } from '../shared/test-data';
import { settle, show } from '../shared/test-view';
import { formatLink, type Job } from '../state/state';
import { famousRuns, jobOf } from './prove';
import { Published } from './published';

const { page, answer } = answeredOf();
const other = goodOf('estimate', 'llama-70b-64-h100');
const run = famousRuns.find(({ id }) => id === 'deepseek-v3') as (typeof famousRuns)[number];
const job = { ...page.job, model: 'deepseek-v3', gpu: 'h800-sxm-80gb', gpus: 2048 };

async function shown(here: unknown, of: Job = job, ours: Estimate = answer) {
    const estimate = vi.fn(async (_: object) => here);
    const view = show(<Published page={{ catalog, job: of }} answer={ours} estimate={estimate as never} />);
    await settle();
    return { ...view, estimate };
}

test('of the published run’s plan: what it takes here, and a link to it as it was', async () => {
    const { text, all, estimate } = await shown(other);
    expect(text()).toMatch(
        /^A published run of DeepSeek-V3 used another plan: tensor .* Here it .* A step takes .* with this plan: .* more /,
    );
    expect(text()).toContain('Number formats there: fp8');
    expect(all('link').map((one) => one.getAttribute('href'))).toEqual([formatLink(jobOf(run, catalog), catalog), run.source.url]);
    // its plan on this run: the number formats, the sequences and the batch stay
    expect(estimate.mock.calls[0]?.[0]).toMatchObject({ pipeline_parallel: 16, schedule: 'dualpipe', moments: '16-bit' });
    expect(estimate.mock.calls[0]?.[0]).toMatchObject({ sequence_length: job.sequence_length, global_batch: job.global_batch });
    expect(estimate.mock.calls[0]?.[0]).not.toMatchObject({ precision: 'fp8' });
});

test('a plan that cannot work here says why; the same plan is called the same', async () => {
    expect((await shown(refusalOf('broken-rules'))).text()).toMatch(/ Here it cannot work\. ./);
    expect((await shown(other, job, other)).text()).toMatch(/^A published run of DeepSeek-V3 used this same plan\. /);
});

test('a published run that ran is not said to fail without a word', async () => {
    const llama = famousRuns.find(({ id }) => id === 'llama-405b-16384') as (typeof famousRuns)[number];
    const tooLarge = { ...other, class: 'does_not_fit' as const };
    const of = jobOf(llama, catalog);
    const ours = { ...answer, job: { ...answer.job, ...of } } as Estimate;
    expect((await shown(tooLarge, of, ours)).text()).toContain('Here it would not fit: ');
    expect((await shown(tooLarge, of, ours)).text()).toContain('It did run: ');
    expect(
        (await shown(tooLarge, { ...of, global_batch: 4096 }, { ...ours, job: { ...ours.job, global_batch: 4096 } })).text(),
    ).not.toContain('It did run');
});

test('nothing where no published run is of this model and of about this size', async () => {
    for (const of of [page.job, { ...job, gpus: 64 }]) {
        const { text, estimate } = await shown(other, of);
        expect(text()).toBe('');
        expect(estimate).not.toHaveBeenCalled();
    }
});
