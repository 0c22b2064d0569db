import { expect, test } from 'vitest';
import type { Fourfold } from '../core/api';
import { catalog, goodOf } from '../shared/test-data';
import { readScript, saidOf } from './script';

const script = goodOf('import_plan', 'import-script');
const requests: string[] = [];
const core = {
    import_plan: (request: string) => {
        requests.push(request);
        return JSON.stringify(script);
    },
} as unknown as Fourfold;

test('what a script does not say comes from --set and from options of the job', () => {
    const given = [
        { option: '--gpus', key: 'gpus', text: '64' },
        { option: '--seq', key: 'seq', text: '8k' },
    ];
    expect(saidOf({ set: '\nPP=4\nA=b=c\nodd', start: '2' }, given, catalog)).toEqual({ set: { gpus: '64', PP: '4', A: 'b=c' }, start: 2 });
    expect(saidOf({}, [], catalog)).toEqual({ set: {}, start: 1 });
});

test('what is missing is asked for with the option that gives it', async () => {
    const { job, complaints } = await readScript('run.sh', 'x', core, catalog, { set: { A: '1' }, start: 1 });
    expect(JSON.parse(requests.at(-1) ?? '')).toEqual({ text: 'x', set: { A: '1' } });
    expect(complaints).toEqual(['The file does not say vocab_size. Give it with --set vocab_size=….']);
    expect(job).toMatchObject({ gpus: 32, tensor_parallel: 2, micro_batch: 1 });
});

test('a key that was not understood is told the one that it may be', async () => {
    const odd = { key: '--num-layesr', value: '8', line: 3, fate: 'unknown' as const, fields: [], names: [], near: '--num-layers' };
    const alike = { ...script, jobs: script.jobs.map((plan) => ({ ...plan, keys: [odd] })) };
    const telling = { import_plan: () => JSON.stringify(alike) } as unknown as Fourfold;
    const { notes, complaints } = await readScript('run.sh', 'x', telling, catalog, { set: {}, start: 1 });
    expect(complaints.at(-1)).toContain('--num-layesr (Did you mean: --num-layers)'); // something else is missing
    expect(notes.join(' ')).toContain('--num-layesr (Did you mean: --num-layers)');
});

test('a start that is not there', async () => {
    expect((await readScript('run.sh', 'x', core, catalog, { set: {}, start: 3 })).complaints).toEqual([
        '“run.sh” starts one run. Choose one of them with --start.',
    ]);
});
