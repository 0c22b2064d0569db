import { expect, test } from 'vitest';
import type { CollectivesRead } from '../core/api';
import { measuredOf, pageOf } from '../shared/test-data';
import { show, spies, tap } from '../shared/test-view';
import { tell } from '../words/words';
import { Rates } from './rates';

const set = { measured_intra_gb_s: 350, measured_inter_gb_s: 193.8, measured_inter_latency_s: 6e-6 };
const read: CollectivesRead = {
    ok: true,
    version: 2,
    format: { id: 'nccl_tests' },
    unit: 'gbyte_per_s',
    unit_source: 'tool',
    collectives: [
        { nodes: 1, gpus: 8, bus_gbyte_per_s: 350, gbyte_per_s: 350, latency_us: 30 },
        { nodes: 4, gpus: 32, bus_gbyte_per_s: 193.75, gbyte_per_s: 193.75, latency_us: 60 },
    ],
    set,
    notes: [{ id: 'note.nccl.all_reduce' }],
};

test('the rates of an all_reduce are told, and taken into every estimate', () => {
    const act = spies();
    const { find, text } = show(<Rates read={read} page={pageOf()} act={act} />);
    expect(text()).toMatch(/8 GPUs of one node: 350 GB\/s/);
    expect(text()).toMatch(/32 GPUs on 4 nodes: a node sends 194 GB\/s/);
    tap(find('button', 'Use these rates in every estimate'));
    expect(act.change).toHaveBeenCalledWith(set, 'choose');
});

test('rates in use say so', () => {
    const page = pageOf();
    const { find } = show(<Rates read={read} page={{ ...page, job: { ...page.job, ...set } }} act={spies()} />);
    expect(find('button', 'Every estimate uses these rates')).toHaveProperty('disabled', true);
});

test('links of single messages propose nothing', () => {
    expect(show(<Rates read={{ ...measuredOf(), set: {} }} page={pageOf()} act={spies()} />).text()).toBe('');
    const between = { ...measuredOf(), set: { measured_inter_gb_s: 40 } };
    expect(show(<Rates read={between} page={pageOf()} act={spies()} />).text()).toContain('between nodes 40 GB/s');
});

test('the band of an answer says whose links it is of', () => {
    const band = { id: 'band.hopper', args: { runs: 102 } };
    expect(tell({ id: 'band.measured_links', args: { band } })).toBe(`${tell(band)} The links have the rates that you measured.`);
});
