import { expect, test, vi } from 'vitest';
import { goodOf, pageOf, refusalOf } from '../shared/test-data';
import { settle, show } from '../shared/test-view';
import { Faster } from './faster';

const pasted = goodOf('import_plan', 'import-script');
const [plan] = pasted.jobs;
if (!plan) throw new Error('the golden script starts nothing');
const own = goodOf('estimate', 'llama-70b-64-h100');
const ranked = goodOf('rank', 'rank-70b');
const script = goodOf('export_plan', 'export-70b');
const fastest = ranked.plans.step_seconds?.[0] ?? 0;

const shown = (seconds: number, text: string) => {
    const exportPlan = vi
        .fn()
        .mockResolvedValueOnce(script)
        .mockResolvedValueOnce({ ...script, text });
    const asks = { estimate: async () => ({ ...own, step_seconds: seconds }), rank: async () => ranked, exportPlan };
    return show(<Faster page={pageOf()} plan={plan} script={pasted} asks={asks as never} />);
};

test('a slower script: both times, and the arguments that change', async () => {
    const { find, text } = shown(2 * fastest, `${script.text}    --recompute-granularity full\n`);
    expect(text()).toContain('Looking for a faster plan');
    await settle();
    expect(text()).toContain('As it stands, it');
    expect(text()).toContain('On the same GPUs,');
    expect(text()).toContain('+ --recompute-granularity full');
    expect(find('button', 'Copy the changes')).toBeTruthy();
});

test('as fast as the fastest, within what the estimate can tell: nothing to change', async () => {
    const { all, text } = shown(fastest * (1 + ranked.tie_width / 2), '');
    await settle();
    expect(text()).toContain('No other plan on the same GPUs is clearly faster.');
    expect(all('button')).toEqual([]);
});

test('a plan that cannot be says why, and which can', async () => {
    const refused = refusalOf('broken-rules');
    const asks = { estimate: async () => refused, rank: async () => ranked, exportPlan: vi.fn(async () => script) };
    const { text } = show(<Faster page={pageOf()} plan={plan} script={pasted} asks={asks as never} />);
    await settle();
    expect(text()).toContain('On the same GPUs,');
    expect(text()).not.toContain('As it stands');
});
