import { expect, test } from 'vitest';
import type { Placed, PlacedAt, PlaceProgress, Refusal } from '../core/api';
import { CoreCrash } from '../core/client';
import {
    type Course,
    classOf,
    countSlow,
    exampleText,
    type Found,
    findPlacement,
    gridOf,
    mergeRanked,
    type Placer,
    Report,
} from './search';
import { blankRow, differencesOf, filledRows, pastedRows, problemsByRow, stagesOf, type UnitRow, unitsOf, withPasted } from './units';

const progress = (moves: number, best_seconds: number, placement: number[] | null = null): PlaceProgress => ({
    moves,
    best_seconds,
    default_seconds: 12,
    index: 0,
    placement,
});
const answer = (moves: number, best_seconds: number, more: Partial<Placed> = {}): Placed =>
    ({ ok: true, moves, best_seconds, default_seconds: 12, nothing_to_gain: false, ranked: [], curve: [[0, 12]], ...more }) as Placed;

interface Asked {
    request: { seed?: number; moves: number; start?: number[]; candidates?: unknown[] };
    seconds: number;
}

// An instance that answers as the test says; until then, or until it is stopped, it is busy.
class FakePlacer implements Placer {
    asked: Asked[] = [];
    private reject: ((error: Error) => void) | undefined;
    constructor(private readonly reply: (asked: Asked, told: (progress: PlaceProgress) => void) => Placed | Refusal | null | Error) {}
    place = (request: object, _links: object, seconds: number, told: (progress: PlaceProgress) => void): Promise<Placed | Refusal> => {
        const asked = { request, seconds } as Asked;
        this.asked.push(asked);
        return new Promise((resolve, reject) => {
            this.reject = reject;
            const reply = this.reply(asked, told);
            if (reply instanceof Error) reject(reply);
            else if (reply) resolve(reply);
        });
    };
    stop = (): void => this.reject?.(new CoreCrash('stopped'));
    end = (): void => {};
}

function clock() {
    let ms = 0;
    return { now: () => ms, pass: (seconds: number) => (ms += seconds * 1000) };
}

const search = (placers: Placer[], more: Partial<Parameters<typeof findPlacement>[0]> = {}) =>
    findPlacement({
        placers,
        request: {},
        links: { names: [], gpus: false, rates: new Float64Array(), latencies: null },
        seconds: 5,
        told: () => {},
        signal: new AbortController().signal,
        ...more,
    });
const found = (result: Found | Refusal | null): Found => {
    if (!result || !('answer' in result)) throw new Error(JSON.stringify(result));
    return result;
};

test('every instance has seeds of its own, rounds fill the time, and the best of all is kept', async () => {
    const { now, pass } = clock();
    const best = [9, 8, 10];
    const placers = best.map(
        (seconds) =>
            new FakePlacer(({ request }) => {
                pass(request.moves / 60_000); // 60,000 moves a second
                return answer(request.moves, request.moves > 60_000 ? seconds : 11);
            }),
    );
    const courses: Course[] = [];
    const result = found(await search(placers, { now, seconds: 100, told: (course) => courses.push(course) }));
    expect(result.answer.best_seconds).toBe(8);
    expect(result.stopped).toBe(false);
    expect([result.searches, result.agreed]).toEqual([6, 2]); // two by each of three, of which one found 8 both times
    const seeds = placers.flatMap(({ asked }) => asked.map(({ request }) => request.seed));
    expect(new Set(seeds).size).toBe(seeds.length);
    for (const { asked } of placers) {
        expect(asked[0]?.request.moves).toBe(60_000);
        expect(asked[1]?.request.moves).toBeGreaterThan(60_000);
    }
    expect(result.course.moves).toBe(placers.flatMap(({ asked }) => asked).reduce((sum, { request }) => sum + request.moves, 0));
    expect(courses.at(-1)?.points[0]).toEqual([0, 12]);
    expect(courses.at(-1)?.points.at(-1)?.[1]).toBe(8);
});

test('one instance makes four searches, each with a quarter of the time and seeds of its own; as good within a thousandth is as good', async () => {
    const { now, pass } = clock();
    const results = [9, 8.005, 8, 8.1];
    const placer = new FakePlacer(({ request }) => {
        pass(request.moves / 6_000_000); // the first round takes a hundredth of a second
        return answer(request.moves, request.moves > 60_000 ? (results[((request.seed ?? 1) - 1) % 4] ?? 0) : 11);
    });
    const result = found(await search([placer], { now, seconds: 4 }));
    expect(placer.asked.map(({ request }) => request.moves > 60_000)).toEqual(Array.from({ length: 12 }, (_, i) => i % 3 > 0));
    expect(new Set(placer.asked.map(({ request }) => request.seed)).size).toBe(12);
    expect([result.answer.best_seconds, result.searches, result.agreed]).toEqual([8, 4, 2]);
    expect(now()).toBeLessThanOrEqual(4000);
});

test('where a round takes longer than a part of the time, one search has all of it', async () => {
    const { now, pass } = clock();
    const placer = new FakePlacer(({ request }) => {
        pass(request.moves / 100_000);
        return answer(request.moves, 9);
    });
    const result = found(await search([placer], { now, seconds: 4 }));
    expect([result.searches, result.agreed]).toEqual([1, 1]);
    expect(now()).toBeGreaterThan(3800);
});

test('when there is nothing to gain, no time is spent on more of it', async () => {
    const placer = new FakePlacer(({ request }) => answer(request.moves, 12, { nothing_to_gain: true }));
    expect(found(await search([placer])).answer.nothing_to_gain).toBe(true);
    expect(placer.asked.length).toBe(1);
});

test('stopping keeps the best that was told of, and has it worked out once more', async () => {
    const control = new AbortController();
    const stopped = [
        new FakePlacer(({ request }, told) => {
            if (request.start) return answer(0, 7, { placement: request.start });
            told(progress(16_384, 9, [1, 0]));
            return null;
        }),
        new FakePlacer((_, told) => {
            told(progress(16_384, 7, [0, 1]));
            told(progress(32_768, 7));
            return null;
        }),
    ];
    const running = search(stopped, { signal: control.signal });
    control.abort();
    const result = found(await running);
    expect(result.stopped).toBe(true);
    expect(result.answer.best_seconds).toBe(7);
    expect(stopped[0]?.asked.at(-1)?.request).toMatchObject({ start: [0, 1], moves: 0 });
});

test('of several plans the one told of is worked out, and the ranking holds the best of every plan', async () => {
    const control = new AbortController();
    const placer = new FakePlacer(({ request }, told) => {
        if (request.start) return answer(0, 6);
        told({ ...progress(16_384, 6, [0, 1]), index: 1 });
        return null;
    });
    const running = search([placer], { signal: control.signal, candidates: [{ zero: 'none' }, { zero: 'weights' }] });
    control.abort();
    found(await running);
    expect(placer.asked[0]?.request.candidates).toEqual([{ zero: 'none' }, { zero: 'weights' }]);
    expect(placer.asked[0]?.request.moves).toBe(120_000);
    expect(placer.asked[1]?.request.candidates).toEqual([{ zero: 'weights' }]);
    const row = (index: number, best_seconds: number) => ({ index, best_seconds, default_seconds: 9, fits: true });
    expect(mergeRanked([row(0, 5), row(1, 6)], [row(1, 4), row(0, 7)])).toEqual([row(1, 4), row(0, 5)]);
});

const row = (id: number, name: string, speed = '', memory = ''): UnitRow => ({ id, name, speed, memory });

test('nodes that differ go into the request as shares and GiB; what is no number stays as typed, blank rows stay out', () => {
    const rows = [
        row(1, ' n1 ', '50'),
        row(2, ''),
        row(3, 'n3', '87,5 %', '40 GB'),
        row(4, 'n4', '', '141'),
        row(5, 'n5', 'half', '-1'),
        row(6, 'n6'),
    ];
    expect(unitsOf(rows)).toEqual([
        { name: 'n1', speed: 0.5 },
        { name: 'n3', speed: 0.875, memory_gib: 40 },
        { name: 'n4', memory_gib: 141 },
        { name: 'n5', speed: 'half', memory_gib: -1 },
        { name: 'n6' },
    ]);
    expect(filledRows(rows).map(({ id }) => id)).toEqual([1, 3, 4, 5, 6]);
    expect(blankRow(rows)).toEqual(row(7, ''));
    expect(blankRow([])).toEqual(row(1, ''));
});

test('every round of every plan, and what is worked out after a stop, asks with the nodes that differ', async () => {
    const units = unitsOf([row(1, 'n1', '50')]);
    const { now, pass } = clock();
    const rounds = new FakePlacer(({ request }) => {
        pass(request.moves / 60_000);
        return answer(request.moves, 9);
    });
    found(await search([rounds], { now, seconds: 20, request: { units }, candidates: [{ zero: 'none' }, { zero: 'weights' }] }));
    expect(rounds.asked.length).toBeGreaterThan(1);
    const control = new AbortController();
    const stopped = new FakePlacer(({ request }, told) => {
        if (request.start) return answer(0, 7);
        told(progress(16_384, 7, [1, 0]));
        return null;
    });
    const running = search([stopped], { request: { units }, signal: control.signal });
    control.abort();
    found(await running);
    expect(stopped.asked.length).toBe(2);
    for (const { request } of [...rounds.asked, ...stopped.asked]) expect(request).toMatchObject({ units: [{ name: 'n1', speed: 0.5 }] });
});

test('a gain that is small after the first round may grow: the time is used', async () => {
    const { now, pass } = clock();
    const placer = new FakePlacer(({ request }) => {
        pass(request.moves / 60_000);
        return answer(request.moves, 11.99, { nothing_to_gain: true });
    });
    found(await search([placer], { now, seconds: 20 }));
    expect(placer.asked.length).toBeGreaterThan(1);
});

test('pasted lines become rows, in place of the one pasted into', () => {
    const [first, second] = [
        { name: 'n1', speed: '50', memory: '40' },
        { name: 'n2', speed: '90', memory: '' },
    ];
    for (const text of ['n1\t50\t40\nn2\t90\n', 'n1 50 40\r\nn2 90', 'n1, 50 %, 40 GB\nn2, 90 %', 'n1,50,40\nn2,90', 'n1;50;40\n\nn2;90'])
        expect(pastedRows(text), text).toEqual([first, second]);
    expect(pastedRows('n1 87,5')).toEqual([{ name: 'n1', speed: '87,5', memory: '' }]);
    for (const text of ['n1', 'rack 3 left', '']) expect(pastedRows(text), text).toBeNull();
    const rows = [row(4, 'a'), row(2, 'b')];
    expect(withPasted(rows, 4, pastedRows('n1 50 40\nn2 90') ?? [])).toEqual([row(4, 'n1', '50', '40'), row(5, 'n2', '90'), row(2, 'b')]);
});

test('problems stand at their rows until these change', () => {
    const problem = (field: string) => ({ field, rule: 'range', value: null, message: { id: field }, suggestion: null, nearest: null });
    const asked = [row(3, 'a'), row(7, 'b', 'x', 'y')];
    const problems = ['units[0].name', 'units[1].speed', 'units[1].memory_gib', 'gpus', 'units[9].name'].map(problem);
    const cells = (now: UnitRow[]) => [...problemsByRow(problems, asked, now)].map(([id, list]) => [id, list.map(({ cell }) => cell)]);
    expect(cells(asked)).toEqual([
        [3, ['name']],
        [7, ['speed', 'memory']],
    ]);
    expect(cells(asked.map((one) => (one.id === 7 ? { ...one, speed: '5' } : one)))).toEqual([[3, ['name']]]);
});

test('what differs, by node, and where it went', () => {
    const names = ['a', 'b', 'c', 'd'];
    const units = unitsOf([row(1, 'c', '50'), row(2, 'a', '100'), row(3, 'd', '', '40')]);
    expect([...differencesOf(units, names)]).toEqual([
        [2, { speed: 0.5, memory_gib: null }],
        [3, { speed: null, memory_gib: 40 }],
    ]);
    const placed = answer(1, 1, { positions: [at(0, 1, 0)].map((one) => ({ ...one, unit: 3 })) });
    expect(stagesOf(placed, 3)).toEqual([1, 1]);
    expect(stagesOf(placed, 2)).toBeNull();
});

test('stopped before anything was found there is nothing', async () => {
    const control = new AbortController();
    const running = search([new FakePlacer(() => null)], { signal: control.signal });
    control.abort();
    expect(await running).toBeNull();
});

test('a refusal comes through and ends the others', async () => {
    const refusal: Refusal = { ok: false, version: 2, problems: [] };
    const busy = new FakePlacer(() => null);
    expect(await search([new FakePlacer(() => refusal), busy])).toBe(refusal);
});

test('one instance that fails takes nothing away from the others; when all do, it is said', async () => {
    const failing = () => new FakePlacer(() => new CoreCrash('out of memory'));
    const fine = new FakePlacer(({ request }) => answer(request.moves, 9, { default_seconds: 9, nothing_to_gain: true }));
    expect(found(await search([failing(), fine])).answer.best_seconds).toBe(9);
    await expect(search([failing(), failing()])).rejects.toThrow(CoreCrash);
});

test('a course stays short however long it lasts', () => {
    const report = new Report(1, () => 1);
    for (let i = 1; i <= 5000; ++i) report.tell(0, progress(i, 10 - i / 1000));
    const { points } = report.course();
    expect(points.length).toBeLessThanOrEqual(202);
    expect(points[0]).toEqual([0, 12]);
    expect(points.at(-1)).toEqual([5000, 5]);
});

test('classes of links and how many are slow', () => {
    expect([2, 4, 7, 8, 10, 12].map((rate) => classOf(rate, 10))).toEqual([0, 1, 2, 3, 4, 5]);
    expect(countSlow(Float64Array.of(Number.NaN, 4, 5, Number.NaN), 10)).toEqual({ slow: 1, all: 2 } satisfies ReturnType<
        typeof countSlow
    >);
    expect(exampleText('An example').split('\n').length).toBe(10);
});

const at = (position: number, stage: number, first: number, last = first): PlacedAt => ({
    position,
    unit: position,
    name: `n${position}`,
    stages: [stage, stage],
    data_ranks: [first, last],
});

test('the picture: stages in columns, hand-overs along rows, rings along columns', () => {
    const grid = gridOf([at(0, 0, 0), at(1, 0, 1), at(2, 0, 2), at(3, 1, 0), at(4, 1, 1), at(5, 1, 2)]);
    expect(grid).toMatchObject({ columns: 2, rows: 3, stages: [0, 1] });
    expect(grid.hops).toEqual([
        [0, 3],
        [1, 4],
        [2, 5],
    ]);
    expect(grid.rings).toEqual([
        [0, 1],
        [1, 2],
        [2, 0],
        [3, 4],
        [4, 5],
        [5, 3],
    ]);
});

test('the picture: one stage is a ring there and back; parts of one copy have rings of their own', () => {
    const ring = gridOf([at(0, 0, 0), at(1, 0, 1), at(2, 0, 2), at(3, 0, 3)]);
    expect(ring.spots.map(({ row, column }) => [row, column])).toEqual([
        [0, 0],
        [0, 1],
        [1, 1],
        [1, 0],
    ]);
    const split = gridOf([at(0, 0, 0), at(1, 0, 0), at(2, 0, 1), at(3, 0, 1)]);
    expect(split.rings).toEqual([
        [0, 2],
        [1, 3],
    ]);
    expect(gridOf([at(0, 0, 0, 7)])).toMatchObject({ columns: 1, rows: 1, rings: [], hops: [] });
});
