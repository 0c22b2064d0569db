import { expect, test } from 'vitest';
import type { PhasedRun, Refusal } from '../core/api';
import { format } from '../format/format';
import { catalog, goodOf, refusalOf } from '../shared/test-data';
import { plain, show } from '../shared/test-view';
import { Outcome } from './result';
import { daysOf } from './said';

const run: PhasedRun = goodOf('phases', 'phases-70b');
const rows = run.phases.map(({ sequence_length: length, global_batch: batch, gpus }) => ({
    tokens: 1e12,
    sequence_length: length,
    tokens_per_step: length * batch,
    gpus,
}));
const textOf = (answer: PhasedRun | Refusal, typed = rows) => show(<Outcome answer={answer} rows={typed} catalog={catalog} />).text();

test('each phase has a row, with its memory of the whole card', () => {
    const { all, text } = show(<Outcome answer={run} rows={rows} catalog={catalog} />);
    expect(all('row')).toHaveLength(1 + run.phases.length);
    for (const { whole_bytes, total_bytes, share } of run.phases)
        expect(text()).toContain(plain(format.percent((share * whole_bytes) / total_bytes)));
    expect(textOf({ ...run, total: { ...run.total, energy_kwh: 3_341_500 } })).toContain('Energy: 3.34 GWh.');
});

test('money has the currency of the price', () => {
    expect(run.job.price_per_gpu_hour).toBe(2.5);
    const cost = plain(format.rounded(run.total.cost ?? 0));
    expect(textOf(run)).toContain(`Cost: ${cost} in your currency.`);
    expect(textOf({ ...run, job: { ...run.job, price_per_gpu_hour: 'auto' } })).toContain(`Cost: $${cost}.`);
});

test('what fits nowhere is said before its days, and only what several phases have of several', () => {
    const [first, second] = run.phases;
    if (!first || !second) throw new Error('two phases');
    expect(textOf(run)).not.toContain('not fit');
    expect(textOf({ ...run, phases: [first, { ...second, class: 'does_not_fit' }] })).toMatch(
        /^Phase 2 does not fit: no plan does\. If it did: /,
    );
    const alone = textOf({ ...run, phases: [first] });
    expect(alone).not.toMatch(/Changes between|in all phases/);
    const free = { tensor_parallel: 4, pipeline_parallel: 8, more_days: 0 };
    expect(textOf({ ...run, kept: free })).toContain('TP 4 and PP 8 in all phases take no longer.');
    expect(textOf({ ...run, kept: { ...free, more_days: 2.5 } })).toContain(`would take ${plain(daysOf(2.5))} more.`);
});

test('a step that is none of whole sequences is said as it was counted', () => {
    expect(textOf(run)).not.toContain('whole sequences');
    const [first, ...others] = rows;
    if (!first) throw new Error('no phase');
    const { sequence_length: length, tokens_per_step: counted } = first;
    expect(textOf(run, [{ ...first, tokens_per_step: counted + 1 }, ...others])).toContain(
        `A step holds whole sequences: ${format.count(counted)} tokens in phase 1.`,
    );
    expect(counted % length).toBe(0);
});

test('mistakes are told by the names of the fields', () => {
    const text = textOf(refusalOf('phases-bad'));
    for (const name of ['Phase 1: Tokens', 'Phase 4: Sequence length', 'Storage, GB/s', 'GPUs']) expect(text).toContain(name);
});
