import { expect, test, vi } from 'vitest';
import { answeredOf, catalog, goodOf, heatOf, searchedPage } from '../shared/test-data';
import { fresh, settle, show, spies, textOf, unfold, write } from '../shared/test-view';
import { withConfig } from '../state/state';
import { LaterCalibrate, LaterCard, LaterLayout, LaterOwnGpu, LaterParts, LaterPaste, LaterStages, LaterTime } from './later';

const phaser = { phases: vi.fn(), pools: vi.fn(), stop: vi.fn() };
const { page, answer } = answeredOf('llama-70b-64-h100');
const act = spies();
const never = () => new Promise<never>(() => {});

test('a part says that it is coming, and comes', async () => {
    const { LaterCard: Early } = await fresh(() => import('./later'));
    const [group] = answer.groups;
    if (!group) throw new Error('no group');
    const { all, text } = show(<Early group={group} open={{ group: group.id, item: '' }} act={act} toAssumptions={() => {}} />);
    expect(text()).toBe('One moment…');
    await expect.poll(() => all('article').length).toBe(1);
});

test('the stages come where there are several', async () => {
    expect(show(<LaterStages answer={answeredOf('fsdp').answer} act={act} />).text()).toBe('');
    const { names } = show(<LaterStages answer={answer} act={act} />);
    await expect.poll(() => names('heading')).toEqual(['Memory per stage']);
});

test('the numbers of a GPU of one’s own come', async () => {
    const { names } = show(<LaterOwnGpu page={answeredOf('own-gpu').page} act={act} />);
    await expect.poll(() => names('textbox')).toContain('Memory');
});

test('a card and a layout come where they are asked for', async () => {
    const [group] = answer.groups;
    const field = catalog.fields.find(({ key }) => key === 'layout');
    if (!group || field?.type !== 'text') throw new Error('no group, no layout');
    const card = show(<LaterCard group={group} open={{ group: group.id, item: '' }} act={act} toAssumptions={() => {}} />);
    const layout = show(<LaterLayout page={page} field={field} act={act} />);
    await expect.poll(() => card.all('article').length).toBe(1);
    await expect.poll(() => layout.all('combobox').length).toBe(1);
});

test('where the time goes: folded with its rates, open where a part of the bar is chosen', async () => {
    const drawn = (chosen: 'compute' | null) => <LaterTime page={page} answer={answer} chosen={chosen} act={act} />;
    const { again, all, one, text } = show(drawn(null));
    expect(text()).toMatch(/^Where the time goes .* of the GPU’s peak of 989 TFLOP\/s dense bf16 \(MFU\)/);
    expect(one<HTMLDetailsElement>('details').open).toBe(false);
    again(drawn('compute'));
    expect(one<HTMLDetailsElement>('details').open).toBe(true);
    await expect.poll(() => all('table').length).toBeGreaterThan(0);
});

test('what is typed into the runs outlives the folding', async () => {
    const calibrate = async () => goodOf('calibrate', 'calibrate');
    const { all, box, find, one } = show(<LaterCalibrate page={page} act={act} calibrate={calibrate} />);
    const details = unfold(box, 'Calibrate with your own runs');
    await expect.poll(() => all('textbox').length).toBe(1);
    write(find('textbox', 'Your runs'), 'gpus tp');
    details.open = false;
    await settle();
    expect(all('textbox')).toEqual([]);
    details.open = true;
    await settle();
    expect(one<HTMLTextAreaElement>('textarea').value).toBe('gpus tp');
});

test('a calibration in use stands on its folded part', () => {
    const job = { ...page.job, time_factor: 1.1 };
    const { one } = show(<LaterCalibrate page={{ ...page, job }} act={act} calibrate={never} />);
    expect(textOf(one('summary'))).toBe('Calibrate with your own runs in use');
});

test('the sections have their headings before their plans come', async () => {
    const placing = { measure: never, placers: [], exportPlan: never };
    const prover = { estimate: never, stop: () => {}, end: () => {} };
    const { LaterPlans } = await fresh(() => import('./later'));
    const early = show(<LaterPlans page={page} act={act} placing={placing} prover={prover} market={prover} phaser={phaser} />);
    expect(early.names('heading')).toHaveLength(10);
    const { all, names } = show(
        <LaterPlans page={searchedPage({ heat: heatOf() })} act={act} placing={placing} prover={prover} market={prover} phaser={phaser} />,
    );
    await expect.poll(() => all('grid').length).toBe(1);
    expect(names('heading').map((name) => name.replace(' Counting…', ''))).toEqual(early.names('heading'));
});

test('the dialog opens with its text, and what it found becomes the job', async () => {
    const imported = goodOf('import_config', 'import-llama');
    const doing = spies();
    const drawn = (pasting: { text: string } | null) => (
        <LaterPaste
            page={{ ...page, pasting }}
            act={doing}
            asks={{ importConfig: async () => imported, exportPlan: vi.fn(), estimate: vi.fn(), rank: vi.fn() }}
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

test('the parts of an answer: those about stages stand open where there are several', () => {
    const opened = (name: string): boolean[] => {
        const { box } = show(<LaterParts answer={answeredOf(name).answer} act={act} timeline={vi.fn(never)} />);
        return [...box.querySelectorAll<HTMLDetailsElement>('details.part-later')].map(({ open }) => open);
    };
    expect(opened('llama-70b-64-h100')).toEqual([true, true, false]);
    expect(opened('fsdp')).toEqual([false, false, false]);
    const { box, text } = show(<LaterParts answer={answeredOf('fsdp').answer} act={act} timeline={vi.fn(never)} />);
    expect(text()).toMatch(/by “Fourfold, every stage”, .* by “Fujii et al. 2024”/);
    expect(unfold(box, /^Two methods/).open).toBe(true);
});
