import { expect, test } from 'vitest';
import { format } from '../format/format';
import { answeredOf, catalog, goodOf, heatOf } from '../shared/test-data';
import { focus, plain, send, show, spies, tap, textOf } from '../shared/test-view';
import { allAuto } from '../state/state';
import type { Page } from '../store/page';
import { Best, Changes } from './changes';

const { page: plainPage, answer } = answeredOf('does-not-fit');
const alternatives = { ...goodOf('alternatives', 'alternatives-70b'), job: answer.job };
const known = { ...plainPage, alternatives };

// The map of this run, in which some plan fits from the first number of GPUs on that is larger than two.
function withMap(page: Page, fit = 0): Page {
    const heat = heatOf();
    heat.columns.class.fill(fit);
    return { ...page, heat, heatOf: page.job };
}
const few = { ...answer, job: { ...answer.job, gpus: 2 } };

function shown(page: Page, of = answer) {
    const act = spies();
    const view = (next: Page, now = of) => <Changes page={next} answer={now} act={act} />;
    const drawn = show(view(page));
    const rows = (): HTMLElement[] => drawn.all('button');
    return { act, ...drawn, rows, now: (next: Page, other = of) => drawn.again(view(next, other)) };
}
const point = (element: Element, type: string): void => send(element, new PointerEvent(type, { bubbles: type !== 'pointerleave' }));

test('what to change first: of this run alone, what makes it fit before the rest', () => {
    expect(shown({ ...known, alternatives: goodOf('alternatives', 'alternatives-70b') }).rows(), 'of another run').toEqual([]);
    const { act, rows } = shown(known);
    expect(rows()).toHaveLength(4); // and the place of one more
    const first = alternatives.changes.find((change) => change.class === 'fits');
    tap(rows()[0] as Element);
    expect(act.change).toHaveBeenCalledWith(first?.set, 'choose');
});

test('what is yet to come keeps its place: the number of GPUs first, the list behind it', () => {
    const page = { ...plainPage, job: { ...plainPage.job, gpus: 2 } };
    const { box, now } = shown(page, few);
    const items = (): string[] => [...box.querySelectorAll('li')].map(textOf);
    expect(items()).toEqual(['One moment…', 'One moment…']);
    const list = { ...alternatives, job: few.job };
    now({ ...page, alternatives: list });
    expect(items()[0]).toBe('One moment…');
    expect(items().slice(1)).not.toContain('One moment…');
    now({ ...withMap(page), alternatives: list });
    expect(items()[0]).toMatch(/^Use 4 GPUs/);
    now({ ...withMap(page, 2), alternatives: list });
    expect(items()[0], 'the limits look further').toBe('One moment…');
    now({ ...withMap(page, 2), alternatives: list, limits: { ...goodOf('limits', 'limits-70b'), fewest_gpus: null } });
    expect(items()).not.toContain('One moment…');
});

test('where another plan is chosen with a change, the row names it', () => {
    const plan = goodOf('limits', 'limits-70b').fewest_gpus?.plan ?? null;
    const changes = alternatives.changes.map((one, i) => ({ ...one, plan: i === 0 ? plan : null }));
    const named = (depth: Page['depth']) =>
        shown({ ...known, depth, alternatives: { ...alternatives, changes } })
            .rows()
            .map((row) => textOf(row).includes('The plan is then tensor '));
    expect(named('detail')).toEqual([true, false, false, false]);
    expect(named('plain'), 'degrees and layers of stages are for who asks for every detail').not.toContain(true);
});

test('the first screen offers what is enough; what is not, once the map knows of no other way', () => {
    const without = {
        ...known,
        alternatives: { ...alternatives, changes: alternatives.changes.map((one) => ({ ...one, class: 'does_not_fit' as const })) },
    };
    expect(shown(without).rows(), 'before the map').toHaveLength(0);
    expect(shown({ ...without, depth: 'detail' }).rows(), 'every detail').toHaveLength(4);
    const some = withMap(without);
    expect(shown(some, few).rows()[0]?.textContent).toMatch(/^Use \d+ GPUs/);
    expect(shown(some, few).rows()).toHaveLength(1);
    const none = withMap(without, 2);
    expect(shown(none, answer).rows(), 'before the limits').toHaveLength(0);
    expect(shown({ ...none, limits: { ...goodOf('limits', 'limits-70b'), fewest_gpus: null } }, answer).rows()).toHaveLength(5);
});

test('the first screen says how long the run then takes, every detail by how much a step changes', () => {
    const { run, step_seconds: now } = answer.time;
    const [one] = alternatives.changes.filter((change) => change.class === 'fits');
    const days = ((run?.days ?? 0) * (one?.step_seconds ?? 0)) / now;
    expect(textOf(shown(known).rows()[0] as Element)).toContain(plain(format.training(days, days, days)[0]));
    const detailed = textOf(shown({ ...known, depth: 'detail' }).rows()[0] as Element);
    expect(detailed).toContain(plain(format.slower(one?.step_seconds ?? 0, now)));
});

test('what fits has nothing to change; in every detail, what saves memory', () => {
    const { page, answer: fits } = answeredOf();
    const saving = { ...page, alternatives: { ...alternatives, job: fits.job } };
    expect(shown(saving, fits).text()).toBe('');
    expect(shown({ ...saving, depth: 'detail' }, fits).text()).toContain('Save memory');
});

test('more GPUs are offered only from a map of this very run', () => {
    const page = { ...plainPage, job: { ...plainPage.job, gpus: 2 } };
    const mapped = withMap(page);
    expect(shown({ ...mapped, heatOf: plainPage.job }, few).rows()).toEqual([]);
    const { act, find } = shown(mapped, few);
    tap(find('button', /^Use 4 GPUs/));
    expect(act.change).toHaveBeenCalledWith({ gpus: 4, ...allAuto(catalog) }, 'choose');
    // where the map ends before any fits
    const limits = goodOf('limits', 'limits-70b');
    const fewest = limits.fewest_gpus?.gpus ?? 0;
    const far = shown({ ...withMap(page, 2), limits }, few);
    tap(far.find('button', new RegExp(`^Use ${fewest} GPUs`)));
    expect(far.act.change).toHaveBeenCalledWith({ gpus: fewest, ...allAuto(catalog) }, 'choose');
    expect(shown({ ...withMap(page, 2), limits, limitsStale: true }, few).rows()).toEqual([]);
});

test('once the fewest GPUs of all are known, they are the ones that are offered; the map may need fewer beside the reader’s degrees', () => {
    const { fewest_gpus: found, ...rest } = goodOf('limits', 'limits-70b');
    const page = withMap({ ...plainPage, job: { ...plainPage.job, gpus: 2 } }); // whose first is 4
    const offered = (gpus: number) => shown({ ...page, limits: { ...rest, fewest_gpus: found && { ...found, gpus } } }, few).text();
    expect(offered(3)).toContain('Use 3 GPUs');
    expect(offered(3)).not.toContain('Use 4 GPUs');
    expect(offered(22)).toContain('Use 4 GPUs');
});

// The map comes after the list, with a way to more GPUs that goes first and takes the place of another one.
function beforeTheMap() {
    const page = { ...known, alternatives: { ...alternatives, job: few.job }, job: { ...plainPage.job, gpus: 2 } };
    const drawn = shown(page, few);
    const before = drawn.rows();
    return { ...drawn, page, before, texts: before.map(textOf), mapped: withMap(page) };
}

test('when the map comes, a row that is still there is the same element', () => {
    const { rows, before, texts, mapped, now } = beforeTheMap();
    now(mapped);
    expect(textOf(rows()[0] as Element)).toMatch(/^Use 4 GPUs/);
    expect(rows()).toHaveLength(1 + before.length);
    const still = rows().filter((row) => texts.includes(textOf(row)));
    expect(still.length).toBeGreaterThan(2);
    for (const row of still) expect(row).toBe(before[texts.indexOf(textOf(row))]);
});

test('no row leaves or moves under a pointer; what came meanwhile stands below, and goes first once the pointer is gone', () => {
    const { act, rows, one, before, texts, mapped, now } = beforeTheMap();
    const last = before.at(-1) as Element;
    point(last, 'pointerdown');
    now(mapped);
    expect(rows().slice(0, 4)).toEqual(before);
    expect(rows().map(textOf).slice(0, 4)).toEqual(texts);
    expect(textOf(rows()[4] as Element)).toMatch(/^Use 4 GPUs/);
    point(last, 'pointerup');
    tap(last);
    expect(act.change).toHaveBeenCalledTimes(1);
    point(one('ul'), 'pointerleave');
    expect(textOf(rows()[0] as Element)).toMatch(/^Use 4 GPUs/);
    expect(rows()).toHaveLength(5);
});

test('nor under the focus; another run has its own rows at once', () => {
    const { rows, before, mapped, now, page } = beforeTheMap();
    focus(before[3] as Element);
    now(mapped);
    expect(rows().slice(0, 4)).toEqual(before);
    const other = { ...few, job: { ...few.job, gpus: 3 } };
    now(
        {
            ...mapped,
            alternatives: {
                ...page.alternatives,
                job: other.job,
                changes: alternatives.changes.filter(({ set }) => !('gpus' in set)).slice(0, 1),
            },
        },
        other,
    );
    expect(rows()).toHaveLength(2);
});

test('what the best plan comes to stands beside the reader’s own, and a press drops the settings', () => {
    const own = answeredOf('llama-70b-64-h100');
    const best = { set: {}, class: 'fits', step_seconds: own.answer.time.step_seconds / 2 } as never;
    const of = (auto_plan: typeof best, job = own.answer.job) => ({ ...own.page, alternatives: { ...alternatives, job, auto_plan } });
    const act = spies();
    const text = (page: Page, answer = own.answer) => show(<Best page={page} answer={answer} act={act} />);
    const days = (own.answer.time.run?.days ?? 0) / 2;
    expect(text(of(best)).text()).toBe(plain(`Best without your settings: ${format.training(days, days, days)[0]}`));
    tap(text(of(best)).find('button'));
    expect(act.change).toHaveBeenCalledWith(allAuto(catalog), 'choose');
    const equal = { ...(best as object), step_seconds: own.answer.time.step_seconds * 0.999 } as never;
    expect(text(of(equal)).text(), 'as fast').toBe('');
    expect(text(of(equal), { ...own.answer, class: 'does_not_fit' }).text(), 'that fits').toMatch(/^Best without/);
    expect(text(of({ ...(best as object), class: 'at_risk' } as never)).text(), 'that does not fit').toBe('');
    expect(text(of(best, answer.job)).text(), 'of another run').toBe('');
});
