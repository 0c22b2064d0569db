import { afterEach, expect, test, vi } from 'vitest';
import type { ImportedPlan } from '../core/api';
import type { Core } from '../core/client';
import { goodOf, pageOf, refusalOf } from '../shared/test-data';
import { choose, show, tap } from '../shared/test-view';
import { ScriptPanel } from './panel';

const script = goodOf('export_plan', 'export-70b');
const page = pageOf('llama-70b-64-h100');

afterEach(() => void vi.restoreAllMocks());

const job = { gpus: 64, framework: script.framework };
const never = () => new Promise<never>(() => {});

type Import = typeof import('./reader').importPlan;

function shown(
    changes = {},
    exportPlan: Core['exportPlan'] = never,
    estimate: Core['estimate'] = never,
    importPlan: Import = async () => refusalOf('import-unsupported'),
) {
    const close = vi.fn();
    const asks = { exportPlan, estimate, importPlan };
    const panel = <ScriptPanel page={page} job={job} script={{ ...script, ...changes }} asks={asks} close={close} />;
    return { close, ...show(panel) };
}

test('the script as it is, what is yours to fill in, what it needs, and what it lacks', () => {
    const { all, find, text } = shown();
    expect(find('region', 'The file').textContent).toBe(script.text);
    expect(text()).toContain('Fill in before you start: NODE_RANK, MASTER_ADDR, DATA_ARGS, and TRAINING_ARGS.');
    expect(text()).toContain('Needs Megatron-Core 0.11 or newer, which brought --num-virtual-stages-per-pipeline-rank.');
    expect(all('listitem').map(({ textContent }) => textContent)).toContainEqual(
        expect.stringContaining('set --rotary-base by its rope_theta'),
    );
    expect(all('listitem')).toHaveLength(script.left_out.length);
});

test('a script that any version takes and that lacks nothing says neither', () => {
    const { all, text } = shown({ needs: null, left_out: [] });
    expect(text()).not.toContain('Needs');
    expect(all('listitem')).toEqual([]);
});

test('that a file trains all weights instead of adapters is said above it', () => {
    const { all, find, text } = shown({ left_out: [{ id: 'export.left_out.adapters' }] });
    expect(text()).toContain('Unless your program adds them, it trains all weights.');
    expect(all('listitem')).toEqual([]);
    const said = find('dialog').querySelector('.wrong');
    expect(said && said.compareDocumentPosition(find('region', 'The file')) & Node.DOCUMENT_POSITION_FOLLOWING).toBeTruthy();
});

test('what comes of the plan where the file runs is said, where that is something else', async () => {
    const there = goodOf('estimate', 'does-not-fit');
    const estimate = vi.fn<Core['estimate']>(async () => there);
    const { text, find } = shown({ format: 'nanotron', framework: 'nanotron' }, never, estimate);
    await vi.waitFor(() => expect(text()).toContain('As nanotron runs it, this plan does not fit: '));
    expect(estimate).toHaveBeenCalledWith({ ...job, framework: 'nanotron' });
    expect(find('region', 'The file')).toBeTruthy();
});

test('what a file leaves out is what its framework does then', async () => {
    const said = {
        ...goodOf('import_plan', 'import-script').jobs[0],
        job: { pipeline_parallel: 2, model: { hidden_size: 8 } },
    } as ImportedPlan;
    const read: Import = async () => ({ ...goodOf('import_plan', 'import-script'), jobs: [said] });
    const estimate = vi.fn<Core['estimate']>(async () => page.answer ?? never());
    const { text } = shown({}, never, estimate, read);
    await vi.waitFor(() => expect(estimate).toHaveBeenCalled());
    expect(estimate.mock.calls[0]?.[0]).toMatchObject({ gpus: 64, pipeline_parallel: 2, layout: 'auto', tensor_parallel: 'auto' });
    expect(text()).not.toContain('runs it'); // the same figures
    document.body.replaceChildren();
    const other = shown({}, never, async () => goodOf('estimate', 'does-not-fit'), read);
    await vi.waitFor(() => expect(other.text()).toContain('As Megatron-LM runs it, this plan does not fit: '));
});

test('a plan that does not fit where the file runs makes room for one that is found there, and that is said', async () => {
    const fits = goodOf('estimate', 'llama-70b-64-h100');
    const estimate = vi.fn<Core['estimate']>(async ({ tensor_parallel }) =>
        tensor_parallel === undefined ? goodOf('estimate', 'does-not-fit') : fits,
    );
    const exportPlan = vi.fn<Core['exportPlan']>(async () => ({ ...goodOf('export_plan', 'export-nanotron'), text: 'the other' }));
    const { text, find } = shown({ format: 'nanotron', framework: 'nanotron' }, exportPlan, estimate);
    await vi.waitFor(() => expect(find('region', 'The file').textContent).toBe('the other'));
    expect(exportPlan).toHaveBeenCalledWith({ ...fits.job, format: 'nanotron' });
    expect(text()).toContain('another plan than the one that Fourfold shows');
    expect(text()).toContain('As nanotron runs it, this plan fits: ');
});

test('it is copied and saved whole', async () => {
    const copied = vi.spyOn(navigator.clipboard, 'writeText').mockImplementation(async () => {});
    const saved: string[] = [];
    vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (this: HTMLAnchorElement) {
        saved.push(this.download);
    });
    const { close, find } = shown();
    tap(find('button', 'Copy'));
    await vi.waitFor(() => expect(copied).toHaveBeenCalledWith(script.text));
    tap(find('button', 'Download (.sh)'));
    expect(saved).toEqual(['fourfold-llama-3.1-70b-64-h100-sxm-80gb.sh']);
    tap(find('button', 'Close'));
    expect(close).toHaveBeenCalled();
});

test('another format, an older release and Slurm are asked for, and their file takes the place of the one before', async () => {
    const answers = { torchtitan: 'export-torchtitan', 'megatron-lm': 'export-70b', 'megatron-lm-slurm': 'export-slurm' } as const;
    const exportPlan = vi.fn<Core['exportPlan']>(async ({ format }) => goodOf('export_plan', answers[format as keyof typeof answers]));
    const saved: string[] = [];
    vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (this: HTMLAnchorElement) {
        saved.push(this.download);
    });
    const { all, find, text } = shown({}, exportPlan);
    expect(all('option').map(({ textContent }) => textContent)).toContain('NeMo 2');
    choose(find('combobox', 'Release'), '0.10');
    await vi.waitFor(() => expect(exportPlan).toHaveBeenLastCalledWith({ ...job, format: 'megatron-lm', release: '0.10' }));
    tap(find('checkbox', 'As a Slurm job'));
    await vi.waitFor(() => expect(find('region', 'The file').textContent).toContain('#SBATCH --nodes=8'));
    expect(exportPlan).toHaveBeenLastCalledWith({ ...job, format: 'megatron-lm-slurm', release: '0.10' });
    expect(find('combobox', 'Format')).toHaveProperty('value', 'megatron-lm');
    choose(find('combobox', 'Format'), 'torchtitan');
    await vi.waitFor(() => find('heading', 'Launch flags for torchtitan'));
    expect(exportPlan).toHaveBeenLastCalledWith({ ...job, format: 'torchtitan' });
    expect(text()).not.toContain('Fill in before you start');
    expect(all('checkbox')).toEqual([]);
    expect(text()).toContain('torchtitan has no key for these');
    tap(find('button', 'Download (.toml)'));
    expect(saved).toEqual(['fourfold-llama-3.1-70b-64-h100-sxm-80gb.toml']);
});

test('a file that cannot be had is said, and the one before stays', async () => {
    const { all, find } = shown({}, async () => ({ ...refusalOf('bad-request'), job: null }));
    choose(find('combobox', 'Format'), 'nanotron');
    await vi.waitFor(() => expect(all('alert')).toHaveLength(1));
    expect(find('region', 'The file').textContent).toBe(script.text);
});
