import { expect, test, vi } from 'vitest';
import { format } from '../format/format';
import { goodOf, pageOf, rankedPage } from '../shared/test-data';
import { cellsOf, plain, settle, show, spies, tap, textOf } from '../shared/test-view';
import { allAuto } from '../state/state';
import type { Page } from '../store/page';
import { planAt, type Ranking, rows, settingsOf } from '../store/ranked';
import { Best } from './best';
import { folded } from './list';

const ranked = goodOf('rank', 'rank-70b');
const count = rows(ranked);
const folds = folded(Array.from({ length: count }, (_, i) => ({ plan: planAt(ranked, i), rank: i + 1 })));

function shown(ranking: Partial<Ranking> = {}, changes: Partial<Page> = {}) {
    const page = rankedPage(changes);
    const act = spies();
    return { act, page, ...show(<Best page={{ ...page, ranking: { ...page.ranking, ...ranking } }} act={act} />) };
}
const tableOf = ({ find }: Pick<ReturnType<typeof shown>, 'find'>): string[][] => cellsOf(find('table', 'Plans that fit'));
const plansOf = (view: Pick<ReturnType<typeof shown>, 'find'>): string[][] => tableOf(view).filter((cells) => cells.length > 1);

test('the best plan, and the plans after it with their times and memory', () => {
    const view = shown();
    const first = planAt(ranked, 0);
    expect(view.names('heading')[0]).toBe('Best configurations');
    expect(view.text()).toContain(plain(`, ${format.duration(first.step_seconds)} a step.`));
    const [head, ...lines] = plansOf(view);
    expect(head?.map((cell) => cell.replace(/[▾▴]/, ''))).toEqual([
        '#',
        'tensorTP',
        'pipelinePP',
        'contextCP',
        'micro-batchMB',
        'data',
        'Other settings',
        'Step',
        'Tokens/s',
        'GB',
    ]);
    const firsts = folds.slice(0, 20).map(([one]) => format.gb(one?.plan.whole_bytes ?? 0));
    expect(lines.map((cells) => cells[9])).toEqual(firsts);
    expect(lines[0]?.[9]).toBe(format.gb(first.whole_bytes));
});

test('the finding comes first; where nothing is set, nothing is said of what the reader has set', () => {
    const { box, page, text } = shown();
    expect(box.querySelector('.finding')?.compareDocumentPosition(box.querySelector('.left-out') as Element)).toBe(
        Node.DOCUMENT_POSITION_FOLLOWING,
    );
    const job = { ...page.job, ...allAuto(page.catalog), token_slices: 1 };
    const opened = 'also those that differ from what you have set';
    expect(shown({}, { job }).text()).not.toContain(opened);
    expect(shown({}, { job: { ...job, tensor_parallel: 2 } }).text()).toContain(opened);
    expect(text()).toContain('The best plan that fits');
});

test('why the times do not rise from row to row is said beside the list', () => {
    const order = 'Plans within 1.5 % of a step of each other are not in the order of time:';
    expect(shown().text()).toContain(order);
    const alone = shown({ ranked: { ...ranked, equally_good: 1 } }).text();
    expect(alone).toContain(order);
    expect(alone).not.toContain('equally fast as far as');
});

test('more rows are a tap away', () => {
    const view = shown();
    tap(view.find('button', /^Show \d+ more$/));
    expect(plansOf(view)).toHaveLength(1 + Math.min(40, folds.length));
});

test('plans that differ only in their chunks stand behind the first of them, until they are asked for', () => {
    const view = shown();
    const before = plansOf(view).length;
    const others = (folds[0]?.length ?? 0) - 1;
    expect(others).toBeGreaterThan(0);
    const more = (): Element => view.all('button').find((one) => one.closest('.alike')) as Element;
    expect(textOf(more())).toBe(`${others} more plans, equally fast, differ only in how the layers are cut into chunks`);
    expect(more().getAttribute('aria-expanded')).toBe('false');
    tap(more());
    expect(more().getAttribute('aria-expanded')).toBe('true');
    expect(plansOf(view)).toHaveLength(before + others);
    expect(plansOf(view)[2]?.[9]).toBe(format.gb(folds[0]?.[1]?.plan.whole_bytes ?? 0));
    tap(more());
    expect(plansOf(view)).toHaveLength(before);
});

test('they are shown where the plan above is among them', () => {
    const { answer } = rankedPage();
    const other = folds[0]?.[1]?.plan;
    if (!answer || !other) throw new Error('the golden list has no plan like its first');
    const view = shown({}, { answer: { ...answer, job: { ...answer.job, ...settingsOf(other), gpus: ranked.gpus } } as never });
    const [first] = view.all('button').filter((one) => one.closest('.alike'));
    expect(first?.getAttribute('aria-expanded')).toBe('true');
    expect(plansOf(view)[2]?.[0]).toMatch(/^2 above/);
});

test('a column orders the rows, and once more turns them round', () => {
    const view = shown();
    const memories = (): number[] =>
        plansOf(view)
            .slice(1)
            .map((cells) => Number(cells[9]));
    tap(view.find('button', 'GB'));
    expect(memories()).toEqual([...memories()].sort((a, b) => a - b));
    expect(view.all('columnheader').filter((one) => one.getAttribute('aria-sort') === 'ascending')).toHaveLength(1);
    tap(view.find('button', /^GB/));
    expect(memories()).toEqual([...memories()].sort((a, b) => b - a));
});

test('a row is taken by its button, once, or anywhere else on it', () => {
    const { act, find, page } = shown();
    const second = folds[1]?.[0];
    if (!second) throw new Error('the golden list has one plan');
    const taken = { ...allAuto(page.catalog), ...settingsOf(second.plan) };
    tap(find('button', new RegExp(`^Take plan ${second.rank}:`)));
    expect(act.change.mock.calls).toEqual([[taken, 'choose']]);
    tap(find('button', new RegExp(`^Take plan ${second.rank}:`)).closest('tr') as Element);
    expect(act.change.mock.calls.at(-1)).toEqual([taken, 'choose']);
});

test('nothing fits: how close it comes, and where all the combinations went', () => {
    const closest = { ...planAt(ranked, 0), share: 1.5 };
    const none = { ...ranked, plans: {}, ranked: 0, equally_good: 0, front: [], closest };
    const { all, text } = shown({ ranked: none });
    expect(text()).toContain('No plan fits on 64 GPUs. The plan closest to fitting');
    expect(text()).toContain(`Of ${format.count(ranked.candidates)} combinations, ${format.count(ranked.legal)} keep all rules`);
    expect(text()).toContain(`${format.count(ranked.does_not_fit)} do not fit or are at risk`);
    expect(shown({ ranked: { ...ranked, does_not_fit: 0 } }).text()).not.toContain('do not fit');
    expect(all('table')).toEqual([]);
});

test('why the next plan comes later', () => {
    const lead = { ...goodOf('versus', 'versus'), outcome: 'slower', seconds: 2, seconds_share: 0.1, bytes: 1, time: [] } as const;
    const { plan, other } = lead;
    if (!other.ok) throw new Error('the golden plans can both be');
    const told = (more: number) => shown({ lead: { ...lead, time: [], other: { ...other, whole_bytes: plan.whole_bytes + more } } }).text();
    expect(told(1e6)).toContain('Both need the same memory.'); // not "0.00 GB more"
    expect(told(plan.whole_bytes * 0.0029)).toContain('Both need the same memory.'); // as far as the estimate can tell
    expect(told(plan.whole_bytes * 0.0031)).toContain(' GB more than the first.');
    expect(told(0)).toMatch(/The next plan, .*, takes 2.00 s .* longer\. Both need the same memory\./);
    expect(told(2 ** 30)).toContain('It needs 1.00 GB more than the first.'); // as the list has them, what lies outside the allocator included
});

test('what the reader has set bounds the answer, not the list, until it is filtered by it', () => {
    const { act, find } = shown({}, { job: { ...rankedPage().job, tensor_parallel: 8, schedule: '1f1b', layout: 'equal' } });
    tap(find('button', 'Filter by what you have set'));
    expect(act.filter).toHaveBeenCalledWith({ tensor_parallel: 8 }, { schedule: '1f1b' });
});

test('a list of the run before says so', () => {
    expect(shown({ stale: true }).text()).toContain('These plans belong to the run before the last change.');
    const { problems } = pageOf('broken-rules'); // of a filter
    expect(shown({ stale: true, problems }).text()).not.toContain('before the last change');
    expect(shown({ ranked: null }).text()).toContain('The plans are being computed…');
});

test('the list is saved as a table', async () => {
    const saved: string[] = [];
    const click = vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (this: HTMLAnchorElement) {
        saved.push(this.download);
    });
    const { find } = shown();
    tap(find('button', 'Download as a table (CSV)'));
    await expect.poll(() => saved).toEqual([`fourfold-best-${ranked.gpus}-gpus.csv`]);
    await settle();
    click.mockRestore();
});
