import { afterEach, expect, test, vi } from 'vitest';
import { answeredOf, goodOf, refusalOf } from '../shared/test-data';
import { fresh, show, spies, tap } from '../shared/test-view';
import { withConfig } from '../state/state';
import { LaterOwnGpu, LaterPaste } from './later';

const { readRun, importPlan } = vi.hoisted(() => ({ readRun: vi.fn(), importPlan: vi.fn() }));
vi.mock('../formats/reader', async (original) => ({ ...(await original<typeof import('../formats/reader')>()), readRun, importPlan }));
afterEach(() => history.replaceState(null, '', location.pathname));

const { page, answer } = answeredOf('llama-70b-64-h100');
const act = spies();
const never = () => new Promise<never>(() => {});

test('a part says that it is coming, and comes', async () => {
    const { LaterCard } = await fresh(() => import('./later'));
    const [group] = answer.groups;
    if (!group) throw new Error('no group');
    const { all, text } = show(<LaterCard group={group} open={{ group: group.id, item: '' }} act={act} toAssumptions={() => {}} />);
    expect(text()).toBe('One moment…');
    await expect.poll(() => all('article').length).toBe(1);
});

test('every detail comes, and says so meanwhile', async () => {
    const { LaterDetail } = await fresh(() => import('./later'));
    const asker = { estimate: never, stop: () => {}, end: () => {} };
    const { names, text } = show(
        <LaterDetail
            page={page}
            act={act}
            timeline={never}
            calibrate={never}
            placing={{ measure: never, placers: [], exportPlan: never }}
            prover={asker}
            market={asker}
            phaser={{ phases: vi.fn(), pools: vi.fn(), stop: vi.fn() }}
        />,
    );
    expect(text()).toBe('One moment…');
    await expect.poll(() => names('complementary')).toContain('Adjust the plan');
});

test('the numbers of a GPU of one’s own come', async () => {
    const { names } = show(<LaterOwnGpu page={answeredOf('own-gpu').page} act={act} />);
    await expect.poll(() => names('textbox')).toContain('Memory');
});

test('the dialog opens with its text, and what it found becomes the job', async () => {
    const imported = goodOf('import_config', 'import-llama');
    const doing = spies();
    const drawn = (pasting: { text: string } | null) => (
        <LaterPaste
            page={{ ...page, pasting }}
            act={doing}
            asks={{ importConfig: async () => imported, exportPlan: vi.fn(), estimate: vi.fn(), alternatives: vi.fn(), rank: vi.fn() }}
        />
    );
    const { again, all, find } = show(drawn(null));
    expect(all('dialog')).toEqual([]);
    again(drawn({ text: '{}' }));
    await expect.poll(() => all('button', 'Use this model')[0]?.getAttribute('aria-disabled')).toBe('false');
    find('button', 'Use this model')
        .closest('form')
        ?.dispatchEvent(new Event('submit', { cancelable: true }));
    expect(doing.replaceJob).toHaveBeenCalledWith(withConfig(page.job, imported.model), 'choose');
    expect(doing.paste).toHaveBeenCalledWith(null);
});

test('a log is compared with the run that the address names, never with the example of the page; its cards can be used', async () => {
    readRun.mockResolvedValue(goodOf('read_run', 'run-cards'));
    importPlan.mockResolvedValue(refusalOf('run-unknown'));
    const asks = { importConfig: vi.fn(), exportPlan: vi.fn(), estimate: vi.fn(), alternatives: vi.fn(), rank: vi.fn() };
    const doing = spies();
    const log = () => show(<LaterPaste page={{ ...page, pasting: { text: '| NVIDIA-SMI' } }} act={doing} asks={asks} />);
    history.replaceState(null, '', '?lang=en');
    const alone = log();
    await expect.poll(alone.text).toContain('Compared with no run');
    expect(readRun.mock.lastCall?.[0].counted).toBeNull();
    tap(alone.find('button', 'Use 2 × A100 SXM 40 GB'));
    expect([doing.change.mock.calls, doing.paste.mock.calls]).toEqual([[[{ gpu: 'a100-sxm-40gb', gpus: 2 }, 'choose']], [[null]]]);
    history.replaceState(null, '', '?lang=en&model=llama-3.1-8b');
    await expect.poll(log().text).toContain('Compared with the run that this page shows');
    expect(readRun.mock.lastCall?.[0].counted).toMatchObject({ total_bytes: answer.total_bytes });
});

test('a log below its script is compared with the run of the script, whatever the page shows', async () => {
    const script = goodOf('import_plan', 'import-script');
    const plans = script.jobs.map((plan) => ({ ...plan, asked: [], keys: [], job: { ...plan.job, gpus: 128 } }));
    readRun.mockResolvedValue(goodOf('read_run', 'run-died'));
    importPlan.mockResolvedValue({ ...script, jobs: plans });
    const estimate = vi.fn(async (_: unknown) => ({ ...answer, total_bytes: 5, job: { ...answer.job, gpus: 128 } }));
    const alternatives = vi.fn(async (_: unknown) => goodOf('alternatives', 'alternatives-70b'));
    const asks = { importConfig: vi.fn(), exportPlan: vi.fn(), estimate, alternatives, rank: vi.fn(never) };
    history.replaceState(null, '', '?lang=en&model=llama-3.1-8b');
    const shown = show(<LaterPaste page={{ ...page, pasting: { text: 'torchrun x.py\nOutOfMemoryError' } }} act={spies()} asks={asks} />);
    await expect.poll(shown.text).toContain('on 128 × ');
    expect(estimate.mock.calls[0]?.[0]).toMatchObject({ gpus: 128 });
    expect(alternatives.mock.calls[0]?.[0]).toMatchObject({ gpus: 128 });
    expect(readRun.mock.lastCall?.[0].counted).toMatchObject({ total_bytes: 5, gpus: 128 });
});
