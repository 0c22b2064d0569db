import { expect, test } from 'vitest';
import type { Fourfold } from '../core/api';
import { catalog, goodOf } from '../shared/test-data';
import { readScript, saidOf } from './script';

const script = goodOf('import_plan', 'import-script');
const requests: string[] = [];
const given = new Set<string>();
const core = {
    import_plan: (request: string) => {
        requests.push(request);
        return JSON.stringify(script);
    },
    find_models: () => JSON.stringify(goodOf('find_models', 'find-models')),
} as unknown as Fourfold;

test('what a script does not say comes from --set and from options of the job', () => {
    const given = [
        { option: '--gpus', key: 'gpus', text: '64' },
        { option: '--seq', key: 'seq', text: '8k' },
    ];
    expect(saidOf({ set: '\nPP=4\nA=b=c\nodd', start: '2' }, given, catalog, core)).toEqual({
        set: { gpus: '64', sequence_length: '8192', PP: '4', A: 'b=c' },
        start: 2,
        given: new Set(['gpus', 'sequence_length']),
    });
    expect(saidOf({}, [], catalog, core)).toEqual({ set: {}, start: 1, given: new Set() });
});

test('a run whose tokens are not said has no length, and the option that says it is named', async () => {
    const [plan] = script.jobs;
    const epochs = { ...script, jobs: [{ ...plan, job: { ...plan?.job, token_budget: 0 } }] };
    const telling = { ...core, import_plan: () => JSON.stringify(epochs) } as unknown as Fourfold;
    const read = (...given: string[]) => readScript('a.yaml', 'x', telling, catalog, { set: {}, start: 1, given: new Set(given) });
    expect((await read()).notes.join()).toContain('--token-budget says it');
    expect((await read('token_budget')).notes.join()).not.toContain('--token-budget');
});

test('model and batch come from options too; what needs the rest of the job is read with it', () => {
    const options = (...all: [string, string][]) => all.map(([key, text]) => ({ option: `--${key}`, key, text }));
    const set = (...all: [string, string][]) => saidOf({}, options(...all), catalog, core).set;
    expect(set(['model', 'llama-3.1-8b'], ['batch', '64'], ['mb', '2'])).toEqual({
        model: 'llama-3.1-8b',
        global_batch: '64',
        micro_batch: '2',
    });
    expect(set(['batch', '4M'], ['gpus', '2 nodes'], ['mb', 'auto'], ['tp', '2'])).toEqual({});
    expect(set(['model', 'google/gemma-2-2b'])).toEqual({}); // the core has it under no id of the catalogue
});

test('what an option gives is not asked for', async () => {
    const asking = {
        ...script,
        jobs: script.jobs.map((plan) => ({ ...plan, asked: ['model' as const, 'global_batch' as const, 'gpus' as const] })),
    };
    const asks = { import_plan: () => JSON.stringify(asking) } as unknown as Fourfold;
    const complaints = async (...given: string[]) =>
        (await readScript('run.sh', 'x', asks, catalog, { set: {}, start: 1, given: new Set(given) })).complaints;
    expect(await complaints()).toEqual([
        '“run.sh” does not say model. Give it with --model.',
        '“run.sh” does not say global_batch. Give it with --global-batch.',
        '“run.sh” does not say gpus. Give it with --gpus.',
    ]);
    expect(await complaints('model', 'global_batch')).toEqual(['“run.sh” does not say gpus. Give it with --gpus.']);
    expect(await complaints('model', 'global_batch', 'gpus')).toEqual([]);
    const of = (given: string[]) => readScript('run.sh', 'x', core, catalog, { set: {}, start: 1, given: new Set(given) });
    expect((await of([])).complaints).not.toEqual([]); // the vocabulary
    expect((await of(['model'])).complaints).toEqual([]);
});

test('a name that a script leaves open is not asked for where an option says what hangs on it', async () => {
    const open = {
        key: '--seq-length',
        value: '$SEQ',
        line: 3,
        fate: 'open' as const,
        fields: ['sequence_length'],
        names: ['SEQ'],
        near: null,
    };
    const jobs = script.jobs.map((plan) => ({ ...plan, asked: [], keys: [open], job: { ...plan.job, model: 'llama-3.1-8b' } }));
    const hanging = { import_plan: () => JSON.stringify({ ...script, jobs }) } as unknown as Fourfold;
    const read = (...given: string[]) => readScript('run.sh', 'x', hanging, catalog, { set: {}, start: 1, given: new Set(given) });
    expect((await read()).complaints).toEqual(['“run.sh” does not say SEQ. Give it with --set SEQ=….']);
    expect((await read()).notes.join()).toContain('--seq-length');
    const { complaints, notes } = await read('sequence_length');
    expect([complaints, notes.join().includes('--seq-length')]).toEqual([[], false]);
});

test('what is missing is asked for with the option that gives it', async () => {
    const { job, complaints } = await readScript('run.sh', 'x', core, catalog, { set: { A: '1' }, start: 1, given });
    expect(JSON.parse(requests.at(-1) ?? '')).toEqual({ text: 'x', set: { A: '1' } });
    expect(complaints).toEqual(['“run.sh” does not say vocab_size. Give it with --set vocab_size=….']);
    expect(job).toMatchObject({ gpus: 32, tensor_parallel: 2, micro_batch: 1 });
});

test('a model that nothing names is asked for: none was chosen before', async () => {
    const jobs = script.jobs.map((plan) => ({ ...plan, asked: [], keys: [] }));
    const bare = { import_plan: () => JSON.stringify({ ...script, jobs }) } as unknown as Fourfold;
    const read = (...given: string[]) => readScript('run.sh', 'x', bare, catalog, { set: {}, start: 1, given: new Set(given) });
    expect((await read()).complaints).toEqual(['“run.sh” does not say model. Give it with --model.']);
    expect((await read('model')).complaints).toEqual([]);
});

test('a key that was not understood is told the one that it may be', async () => {
    const odd = { key: '--num-layesr', value: '8', line: 3, fate: 'unknown' as const, fields: [], names: [], near: '--num-layers' };
    const alike = { ...script, jobs: script.jobs.map((plan) => ({ ...plan, keys: [odd] })) };
    const telling = { import_plan: () => JSON.stringify(alike) } as unknown as Fourfold;
    const { notes, complaints } = await readScript('run.sh', 'x', telling, catalog, { set: {}, start: 1, given });
    expect(complaints.at(-1)).toContain('--num-layesr (Did you mean: --num-layers)'); // something else is missing
    expect(notes.join(' ')).toContain('--num-layesr (Did you mean: --num-layers)');
});

test('a start that is not there', async () => {
    expect((await readScript('run.sh', 'x', core, catalog, { set: {}, start: 3, given })).complaints).toEqual([
        '“run.sh” starts one run. Choose one of them with --start.',
    ]);
});

test('a key that an option answers need not be understood', async () => {
    const odd = { key: 'model_name_or_path', value: 'x/y', line: 2, fate: 'unknown' as const, fields: ['model'], names: [] };
    const jobs = script.jobs.map((plan) => ({ ...plan, asked: [], keys: [odd] }));
    const telling = { import_plan: () => JSON.stringify({ ...script, jobs }) } as unknown as Fourfold;
    const notes = async (...given: string[]) =>
        (await readScript('a.yaml', 'x', telling, catalog, { set: {}, start: 1, given: new Set(given) })).notes.join();
    expect(await notes()).toContain('model_name_or_path');
    expect(await notes('model')).not.toContain('model_name_or_path');
});
