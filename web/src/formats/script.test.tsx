import { expect, test, vi } from 'vitest';
import { catalog, goodOf, pageOf } from '../shared/test-data';
import { focus, show, write } from '../shared/test-view';
import { ScriptReport } from './script';
import { jobOfScript } from './script-job';

const script = goodOf('import_plan', 'import-script');
const [plan] = script.jobs;
if (!plan) throw new Error('the golden script starts nothing');

test('every argument stands under what became of it, with its line', () => {
    const { all, text } = show(<ScriptReport script={script} chosen={0} choose={vi.fn()} set={{}} answer={vi.fn()} />);
    expect(all('row').length).toBeGreaterThanOrEqual(plan.keys.length);
    for (const { key } of plan.keys) expect(text()).toContain(key);
});

test('a key that was not understood is told the one that it may be', () => {
    const odd = { key: '--num-layesr', value: '8', line: 3, fate: 'unknown' as const, fields: [], names: [], near: '--num-layers' };
    const { text } = show(
        <ScriptReport script={{ ...script, jobs: [{ ...plan, keys: [odd] }] }} chosen={0} choose={vi.fn()} set={{}} answer={vi.fn()} />,
    );
    expect(text()).toContain('Did you mean: --num-layers');
});

test('several starts: one is chosen; what would be refused is said', () => {
    const choose = vi.fn();
    const refused = [{ id: 'import_plan.refused.gather' }];
    const several = { ...script, jobs: [plan, { ...plan, line: 99, refused }] };
    const { find, text, again } = show(<ScriptReport script={several} chosen={0} choose={choose} set={{}} answer={vi.fn()} />);
    expect(text()).toContain('This starts 2 runs');
    write(find('combobox', 'Which of them?'), '1');
    find('combobox', 'Which of them?').dispatchEvent(new Event('change', { bubbles: true }));
    expect(choose).toHaveBeenCalledWith(1);
    again(<ScriptReport script={several} chosen={1} choose={choose} set={{}} answer={vi.fn()} />);
    expect(text()).toContain('--overlap-param-gather needs --use-distributed-optimizer.');
});

test('the job of the page takes what the script says; the rest is searched; GPU and price stay', () => {
    const before = { ...pageOf().job, gpu: 'b200-sxm-180gb', price_per_gpu_hour: 3, recompute: 'full' };
    const job = jobOfScript(before, catalog, { ...plan, job: { gpus: 32, tensor_parallel: 2, model: 'llama-3.1-70b' } });
    expect([job.gpu, job.price_per_gpu_hour, job.gpus, job.tensor_parallel, job.model]).toEqual([
        'b200-sxm-180gb',
        3,
        32,
        2,
        'llama-3.1-70b',
    ]);
    expect(job.recompute).toBe('auto');
    const own = jobOfScript(before, catalog, { ...plan, job: { model: { model_type: 'llama', hidden_size: 64 } } });
    expect([own.model, own['model.hidden_size']]).toEqual(['custom', 64]);
});

test('what is being typed stays while the answer to an earlier field arrives', () => {
    const answer = vi.fn();
    const open: typeof plan = { ...plan, asked: ['vocab_size', 'gpus'] };
    const asking = { ...script, jobs: [open] };
    const { find, again } = show(<ScriptReport script={asking} chosen={0} choose={vi.fn()} set={{}} answer={answer} />);
    write(find('textbox', 'GPUs'), '64');
    again(<ScriptReport script={asking} chosen={0} choose={vi.fn()} set={{ vocab_size: '128256' }} answer={answer} />);
    expect(find('textbox', 'GPUs')).toHaveProperty('value', '64');
    find('textbox', 'GPUs').dispatchEvent(new Event('change', { bubbles: true }));
    expect(answer).toHaveBeenCalledWith('gpus', '64');
});

test('what is typed counts after a pause, without leaving the field', () => {
    vi.useFakeTimers();
    const answer = vi.fn();
    const asking = { ...script, jobs: [{ ...plan, asked: ['micro_batch' as const] }] };
    const { find } = show(<ScriptReport script={asking} chosen={0} choose={vi.fn()} set={{}} answer={answer} />);
    write(find('textbox', 'Micro-batch'), '1');
    write(find('textbox', 'Micro-batch'), '16');
    expect(answer).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1000);
    expect(answer.mock.calls).toEqual([['micro_batch', '16']]);
    expect(find('textbox', 'Micro-batch')).toHaveProperty('value', '16');
});

test('fields keep their place, their label and the focus, whatever has been answered', () => {
    const names = ['seq', ...plan.keys.flatMap((key) => key.names)];
    const keys = plan.keys.map((key, i) => (i === 0 ? { ...key, names } : key));
    const asking = (asked: typeof plan.asked, set: { [name: string]: string }, open = ['seq']) => {
        const questions = open.map((name) => ({ name, choices: ['1', '2'] }));
        const jobs = [{ ...plan, keys, asked }];
        return <ScriptReport script={{ ...script, jobs, questions }} chosen={0} choose={vi.fn()} set={set} answer={vi.fn()} />;
    };
    const { all, again, find } = show(asking(['sequence_length', 'micro_batch'], {}));
    const labels = () =>
        all('textbox')
            .concat(all('combobox'))
            .map((one) => one.closest('label')?.firstChild?.textContent);
    const before = labels();
    expect(before).toEqual(['Sequence length', 'Micro-batch', '$seq']);
    const field = find('textbox', 'Micro-batch');
    focus(field);
    again(asking(['micro_batch'], { sequence_length: '8192' }));
    expect(labels()).toEqual(before);
    expect(document.activeElement).toBe(field);
    again(asking([], { sequence_length: '8192', micro_batch: '', seq: '2' }, []));
    expect(labels()).toEqual(before);
    expect(document.activeElement).toBe(field);
});

test('an answer given before the fields were drawn anew is still named', () => {
    const { names } = show(
        <ScriptReport script={script} chosen={0} choose={vi.fn()} set={{ global_batch: '8', GPUS: '8' }} answer={vi.fn()} />,
    );
    expect(names('textbox')).toEqual(expect.arrayContaining(['Sequences per batch (global batch)', '$GPUS']));
});

test('what half a script lacks is said to be no part of the text', () => {
    const half = { ...plan, notes: [{ id: 'import_plan.note.recipe' }] };
    const { text } = show(<ScriptReport script={{ ...script, jobs: [half] }} chosen={0} choose={vi.fn()} set={{}} answer={vi.fn()} />);
    expect(text()).toContain('The rest is not in this text');
});
