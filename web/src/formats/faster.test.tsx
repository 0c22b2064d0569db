import { expect, test, vi } from 'vitest';
import { goodOf, pageOf, refusalOf } from '../shared/test-data';
import { show } from '../shared/test-view';
import { Faster } from './faster';

const pasted = goodOf('import_plan', 'import-script');
const [plan] = pasted.jobs;
if (!plan) throw new Error('the golden script starts nothing');
const own = goodOf('estimate', 'llama-70b-64-h100');
const ranked = goodOf('rank', 'rank-70b');
const script = goodOf('export_plan', 'export-70b');
const fastest = ranked.plans.step_seconds?.[0] ?? 0;

const importPlan = async () => pasted; // of what is written anew

const shown = (seconds: number, text: string) => {
    const exportPlan = vi
        .fn()
        .mockResolvedValueOnce(script)
        .mockResolvedValueOnce({ ...script, text });
    const asks = { estimate: async () => ({ ...own, step_seconds: seconds }), rank: async () => ranked, exportPlan, importPlan };
    return show(<Faster page={pageOf()} plan={plan} script={pasted} asks={asks as never} />);
};

test('a slower script: both times, and the arguments that change', async () => {
    const { find, text } = shown(2 * fastest, `${script.text}    --recompute-granularity full\n`);
    expect(text()).toContain('Looking for a faster plan');
    await vi.waitFor(() => expect(text()).toContain('As it stands, it'));
    expect(text()).toContain('On the same GPUs,');
    expect(text()).toContain('+ --recompute-granularity full');
    expect(find('button', 'Copy the changes')).toBeTruthy();
});

test('what the format cannot say is listed, and the fastest plan that it can say stands beside it', async () => {
    const left = { id: 'export.left_out.number', args: { field: { id: 'field.pipeline_parallel' }, value: 4 } };
    const slower = { ...ranked, plans: { ...ranked.plans, step_seconds: ranked.plans.step_seconds?.map((seconds) => 1.5 * seconds) } };
    const rank = vi.fn().mockResolvedValueOnce(ranked).mockResolvedValue(slower);
    const exportPlan = vi.fn().mockResolvedValue({ ...script, text: 'pp: 1', left_out: [] });
    exportPlan.mockResolvedValueOnce({ ...script, text: 'pp: 1' }).mockResolvedValueOnce({ ...script, text: 'pp: 4', left_out: [left] });
    exportPlan.mockResolvedValueOnce({ ...script, text: 'pp: 1' }).mockResolvedValueOnce({ ...script, text: 'tp: 2', left_out: [] });
    const asks = { estimate: async () => ({ ...own, step_seconds: 2 * fastest }), rank, exportPlan, importPlan };
    const said = { ...plan, keys: plan.keys.slice(0, 1).map((key) => ({ ...key, key: 'pp', value: '1' })) };
    const { text } = show(<Faster page={pageOf()} plan={said} script={{ ...pasted, format: 'deepspeed' }} asks={asks as never} />);
    await vi.waitFor(() =>
        expect(text()).toContain('DeepSpeed has no key for this part of it, or it is set elsewhere: Pipeline parallel (PP): 4'),
    );
    expect(text()).toContain('The fastest plan of which DeepSpeed can say all:');
    expect(text()).toContain('What to change, as DeepSpeed writes it: - pp: 1 + tp: 2');
});

test('a format that is only read: the plan, and that it is set by hand', async () => {
    const asks = { estimate: async () => ({ ...own, step_seconds: 2 * fastest }), rank: async () => ranked, exportPlan: vi.fn() };
    const { all, text } = show(<Faster page={pageOf()} plan={plan} script={{ ...pasted, format: 'axolotl' }} asks={asks as never} />);
    await vi.waitFor(() => expect(text()).toContain('Fourfold reads this format and does not write it'));
    expect(all('button')).toEqual([]);
    expect(asks.exportPlan).not.toHaveBeenCalled();
});

test('as fast as the fastest, within what the estimate can tell: nothing to change', async () => {
    const { all, text } = shown(fastest * (1 + ranked.tie_width / 2), '');
    await vi.waitFor(() => expect(text()).toContain('No other plan on the same GPUs is clearly faster.'));
    expect(all('button')).toEqual([]);
});

test('a plan that cannot be says why, and which can', async () => {
    const refused = refusalOf('broken-rules');
    const asks = { estimate: async () => refused, rank: async () => ranked, exportPlan: vi.fn(async () => script) };
    const { text } = show(<Faster page={pageOf()} plan={plan} script={pasted} asks={asks as never} />);
    await vi.waitFor(() => expect(text()).toContain('On the same GPUs,'));
    expect(text()).not.toContain('As it stands');
    expect(text()).toContain('It cannot run as it stands');
});
