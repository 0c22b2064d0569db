import { afterEach, expect, test, vi } from 'vitest';
import type { Answers, Imported } from '../core/api';
import programs from '../core/programs.json';
import { goodOf, pageOf, refusalOf } from '../shared/test-data';
import { show, tap, write } from '../shared/test-view';
import { PasteDialog } from './paste';

afterEach(() => vi.unstubAllGlobals());

const imported = goodOf('import_config', 'import-llama');
const script = goodOf('import_plan', 'import-script');
const printed = goodOf('read_run', 'run-steps');
const unknown: Answers['find_models'] = { ok: true, version: 2, match: 'none', models: [] };
const noRun = refusalOf('run-unknown') as Extract<Answers['read_run'], { ok: false }>;

function shown(answer: Imported, start = '', found = unknown) {
    const use = vi.fn();
    const close = vi.fn();
    const importConfig = vi.fn(async (_: string) => answer);
    const importPlan = vi.fn(async ({ text }: { text?: string }) => (text?.startsWith('[Rank') ? noRun : script) as Answers['import_plan']);
    const run = vi.fn();
    const compare = vi.fn();
    const measure = vi.fn();
    const readRun = vi.fn(async (text: string) => (text.includes('iteration') ? printed : noRun));
    const findModels = vi.fn(async (_: unknown) => found);
    const others = {
        against: null,
        page: pageOf(),
        useCards: vi.fn(),
        use,
        run,
        measure,
        close,
        compare,
        faster: () => 'is there a faster one',
        useKnown: vi.fn(),
    };
    const dialog = <PasteDialog start={start} importing={{ importConfig, importPlan, readRun, findModels }} {...others} />;
    return { ...others, readRun, importConfig, importPlan, ...show(dialog) };
}

test('the log of a run that ended otherwise is answered as a log', async () => {
    const text = 'slurmstepd: error: Detected 1 oom-kill event(s) in StepId=12.0.';
    const host = { id: 'problem.read_run.host' };
    const ended = { ...noRun, problems: [{ ...noRun.problems[0], rule: 'ended', message: host, suggestion: null }] };
    const readRun = vi.fn(async (_: string) => ended as never);
    const importPlan = vi.fn();
    const rest = {
        against: null,
        page: pageOf(),
        useCards: vi.fn(),
        use: vi.fn(),
        run: vi.fn(),
        measure: vi.fn(),
        close: vi.fn(),
        compare: vi.fn(),
        faster: () => '',
        useKnown: vi.fn(),
    };
    const importing = { importConfig: vi.fn(), importPlan, readRun, findModels: vi.fn(async () => unknown) };
    const dialog = show(<PasteDialog start={text} importing={importing} {...rest} />);
    await vi.waitFor(() => expect(dialog.text()).toContain('the memory of the host was full'));
    expect(dialog.names('button')).not.toContain('Use this model');
    expect(importPlan).not.toHaveBeenCalled();
});

test('it waits for a config, reads what is typed, and hands the model on', async () => {
    const { find, importConfig, text, use } = shown(imported);
    expect(text()).toContain('Waiting for a text.');
    expect(find('button', 'Use this model').getAttribute('aria-disabled')).toBe('true');
    write(find('textbox', 'The text of the file'), '{}');
    await vi.waitFor(() => expect(text()).toContain(imported.used.join('')));
    expect(importConfig).toHaveBeenCalledWith('{}');
    expect(text()).toContain(`${imported.label}: `);
    find('button', 'Use this model')
        .closest('form')
        ?.dispatchEvent(new Event('submit', { cancelable: true }));
    expect(use).toHaveBeenCalledWith(imported);
});

test('a link of the page is opened; one of another page is not', async () => {
    const assign = vi.spyOn(location, 'assign').mockReturnValue();
    const { find, text, importPlan } = shown(imported, 'https://example.org/fourfold/?v=2&model=llama-3.1-70b&gpus=64#gpus');
    expect(text()).toContain('This is a link of this page.');
    find('button', 'Open it')
        .closest('form')
        ?.dispatchEvent(new Event('submit', { cancelable: true }));
    expect(assign).toHaveBeenCalledWith('?v=2&model=llama-3.1-70b&gpus=64');
    expect(importPlan).not.toHaveBeenCalled();
    expect(shown(imported, 'https://example.org/?q=1').text()).not.toContain('a link of this page');
});

test('a config that is none says why, and cannot be used', async () => {
    const refused = refusalOf('import-unsupported') as Extract<Imported, { ok: false }>;
    const { find, text, use } = shown(refused, '{"model_type": "x"}');
    await vi.waitFor(() => expect(text()).toContain(`It cannot be used because of ${refused.problems.length} problems`));
    expect(find('textbox').getAttribute('aria-invalid')).toBe('true');
    find('button', 'Use this model')
        .closest('form')
        ?.dispatchEvent(new Event('submit', { cancelable: true }));
    expect(use).not.toHaveBeenCalled();
});

test('what was assumed for a key is said with its reason', async () => {
    const latent = goodOf('import_config', 'import-latent');
    const { text } = shown(latent, '{}');
    await vi.waitFor(() => {
        for (const { key } of latent.assumed) expect(text()).toContain(`${key}: `);
    });
});

test('closing it is told', () => {
    const { close, find, one } = shown(imported);
    expect(one<HTMLDialogElement>('dialog').open).toBe(true);
    tap(find('button', 'Cancel'));
    expect(close).toHaveBeenCalledTimes(1);
});

test('a launch script is read as a run; what it leaves open is asked, and the answer is read with it', async () => {
    const { find, importPlan, run, text } = shown(imported);
    write(find('textbox', 'The text of the file'), 'torchrun pretrain_gpt.py');
    await vi.waitFor(() => expect(text()).toContain('This starts pretrain_gpt.py'));
    expect(importPlan).toHaveBeenLastCalledWith({ text: 'torchrun pretrain_gpt.py', set: {} });
    expect(text()).toContain('The text does not say it. What is it?');
    write(find('textbox', 'Words in the vocabulary'), '128256');
    find('textbox', 'Words in the vocabulary').dispatchEvent(new Event('change', { bubbles: true }));
    await vi.waitFor(() =>
        expect(importPlan).toHaveBeenLastCalledWith({ text: 'torchrun pretrain_gpt.py', set: { vocab_size: '128256' } }),
    );
    find('button', 'Use this run')
        .closest('form')
        ?.dispatchEvent(new Event('submit', { cancelable: true }));
    expect(run).not.toHaveBeenCalled(); // this answer still asks
});

test('what the last answer brings stands below the fields, which keep their place', async () => {
    const { find, importPlan, text } = shown(imported);
    write(find('textbox', 'The text of the file'), 'torchrun pretrain_gpt.py');
    await vi.waitFor(() => expect(text()).toContain('The text does not say it. What is it?'));
    expect(text()).not.toContain('is there a faster one');
    const field = find('textbox', 'Words in the vocabulary');
    const above = () => text().slice(0, text().indexOf('Words in the vocabulary'));
    const before = above();
    const refused = [{ id: 'import_plan.refused.gather' }];
    importPlan.mockResolvedValue({ ...script, jobs: script.jobs.map((job) => ({ ...job, asked: [], keys: [], refused })) });
    write(field, '128256');
    field.dispatchEvent(new Event('change', { bubbles: true }));
    await vi.waitFor(() => expect(text()).toContain('is there a faster one'));
    expect(text()).toContain('--overlap-param-gather needs');
    expect(above()).toBe(before);
});

test('a launch script that asks nothing more is handed on', async () => {
    const [plan] = script.jobs;
    if (!plan) throw new Error('no run');
    const ready = { ...plan, asked: [], keys: plan.keys.filter(({ fate }) => fate === 'used') };
    const run = vi.fn();
    const importing = {
        importConfig: async () => imported,
        importPlan: async () => ({ ...script, jobs: [ready] }),
        readRun: async () => noRun,
        findModels: async () => unknown,
    };
    const others = {
        against: null,
        page: pageOf(),
        useCards: vi.fn(),
        use: vi.fn(),
        measure: vi.fn(),
        compare: vi.fn(),
        faster: () => null,
        useKnown: vi.fn(),
        close: vi.fn(),
    };
    const { find } = show(<PasteDialog start="torchrun x.py" importing={importing} run={run} {...others} />);
    await vi.waitFor(() => expect(find('button', 'Use this run').getAttribute('aria-disabled')).toBe('false'));
    find('button', 'Use this run')
        .closest('form')
        ?.dispatchEvent(new Event('submit', { cancelable: true }));
    expect(run).toHaveBeenCalledWith(ready);
});

test('what a run printed is told in place, and becomes measured runs', async () => {
    const { find, measure, names, text, use } = shown(imported);
    write(find('textbox', 'The text of the file'), '[Rank 0] iteration 1');
    await vi.waitFor(() => expect(text()).toContain('What the run printed'));
    expect(text()).toContain('Fourfold estimates');
    expect(names('button')).not.toContain('Use this model'); // it would do nothing
    tap(find('button', 'Use as measured runs'));
    expect(measure).toHaveBeenCalledWith(printed.runs_text);
    expect(use).not.toHaveBeenCalled();
});

test('of a script with what it printed below it, the run printed is compared with the script, and can be used', async () => {
    const [plan] = script.jobs;
    if (!plan) throw new Error('no run');
    const ready = { ...plan, asked: [], keys: [] };
    const { find, compare, importPlan, run, text } = shown(imported);
    const against = { ...pageOf(), job: { ...pageOf().job, gpus: 9 }, script: true };
    compare.mockResolvedValue({ run: { ...printed, verdict: [] }, against, times: 1.5 });
    importPlan.mockResolvedValue({ ...script, jobs: [ready] });
    write(find('textbox', 'The text of the file'), 'torchrun x.py\n[Rank 0] iteration 1');
    await vi.waitFor(() => expect(text()).toContain('Compared with the run that the script beside it starts'));
    expect(text()).toContain(' 9 × ');
    expect(text()).toContain('This starts pretrain_gpt.py');
    expect(compare).toHaveBeenCalledWith(ready, 'torchrun x.py\n[Rank 0] iteration 1', printed);
    find('button', 'Use this run')
        .closest('form')
        ?.dispatchEvent(new Event('submit', { cancelable: true }));
    expect(run).toHaveBeenCalledWith(ready);
});

test('the id of a repository: its config comes after a click and is read as if it had been pasted', async () => {
    const fetch = vi.fn(async () => new Response('{"hidden_size": 4096}'));
    vi.stubGlobal('fetch', fetch);
    const own = { ...imported, label: 'Its own name' };
    const { all, find, importConfig, importPlan, readRun, text, use } = shown(own, 'https://huggingface.co/Qwen/Qwen3-8B');
    const ask = await vi.waitFor(() => find('button', /^Send “Qwen.Qwen3-8B” to huggingface.co/));
    for (const one of [fetch, importConfig, importPlan, readRun]) expect(one).not.toHaveBeenCalled();
    expect(find('button', 'Use this model').getAttribute('aria-disabled')).toBe('true');
    tap(ask);
    await vi.waitFor(() => expect(importConfig).toHaveBeenCalledWith('{"hidden_size": 4096}'));
    expect(find<HTMLTextAreaElement>('textbox').value).toBe('{"hidden_size": 4096}');
    expect(document.activeElement).toBe(find('textbox'));
    expect(text()).toContain('This is config.json of Qwen/Qwen3-8B, from huggingface.co.');
    expect(all('button', /^Send/)).toEqual([]);
    find('button', 'Use this model')
        .closest('form')
        ?.dispatchEvent(new Event('submit', { cancelable: true }));
    expect(use).toHaveBeenCalledWith(own);
    write(find('textbox'), '{"hidden_size": 1}');
    await vi.waitFor(() => expect(text()).not.toContain('from huggingface.co'));
});

test('a config from the hub without a name is called as its repository', async () => {
    vi.stubGlobal('fetch', async () => new Response('{}'));
    const { find, text, use } = shown({ ...imported, label: '' }, 'Qwen/Qwen3-8B');
    tap(await vi.waitFor(() => find('button', /^Send/)));
    await vi.waitFor(() => expect(text()).toContain('Qwen3-8B: '));
    find('button', 'Use this model')
        .closest('form')
        ?.dispatchEvent(new Event('submit', { cancelable: true }));
    expect(use.mock.calls[0]?.[0]).toMatchObject({ label: 'Qwen3-8B', model: { ...imported.model, _name_or_path: 'Qwen3-8B' } });
});

test('a repository that the core knows need not be asked for; one that is called alike must be', async () => {
    const found = goodOf('find_models', 'find-models');
    const { all, find, text, useKnown } = shown(imported, 'google/gemma-2-2b', found);
    expect(text()).toContain('One moment…');
    const use = await vi.waitFor(() => find('button', 'Use Gemma 2 2B'));
    expect(text()).toContain('google/gemma-2-2b is built in: Gemma 2 2B');
    expect(all('button', /^Send/)).toEqual([]);
    tap(use);
    expect(useKnown.mock.calls).toEqual([[found.models[1]?.model]]);
    write(find('textbox', 'The text of the file'), 'unsloth/gemma-2-2b');
    await vi.waitFor(() => find('button', /^Send/));
});

test('the programs that are read are listed', () => {
    const { box } = shown(imported);
    for (const name of programs) expect(box.textContent).toContain(name);
});
