// Searches for a placement: on several instances of the core, each with seeds of its own, in rounds that fill the time; the best is kept,
// and how many of them came to it.
import type { PlacedAt, PlaceProgress, PlanRequest, RankedPlacement, Refusal } from '../core/api';
import { type Core, CoreCrash, type PlaceAsked } from '../core/client';
import type { LinkColumns, PlacedHere } from '../core/types';

export type Placer = Pick<Core, 'place' | 'stop' | 'end'>;

// The instances that the view works with: one reads measurements, the others search.
export interface Placing {
    measure: Core['measure'];
    placers: readonly Placer[];
    exportPlan: Core['exportPlan'];
}

export interface Course {
    moves: number; // of all instances together
    moves_per_s: number;
    seconds: number; // since the start
    best_seconds: number;
    default_seconds: number;
    points: [moves: number, best_seconds: number][];
}

export interface Found {
    answer: PlacedHere;
    course: Course;
    searches: number; // that took part
    agreed: number; // of them, found a placement as good as the best
    stopped: boolean; // by the reader, before the time was over
}

// A short round tells how fast this size goes, and already improves on the default order; every further one cools more slowly, as long as
// the time allows.
const FIRST_MOVES = 60_000;
const GROWTH = 16;
const LEAST_SECONDS = 0.2; // what is left is not worth another round,
const LEAST_PART = 0.2; // nor is so little of a search's time
const MOST_POINTS = 200;

// At least so many searches: fewer instances make several each, one after the other. That they come to the same place is the only sign of
// how good it is. It costs nothing: where one instance has a second, four searches come as near to the best known as a single one
// (tests/placement/placement_searches_test.cpp).
const SEARCHES = 4;
// A placement that takes longer by less is as good: nobody measures links that well.
export const TIE = 1e-3;

// What the instances report, as one search.
export class Report {
    private moves: number[]; // of each instance's present round
    private done = 0; // of the rounds before
    private points: Course['points'] = [];
    private best = Number.POSITIVE_INFINITY;
    private usual = Number.NaN;
    // Of the best told of: to work it out again when its instance is stopped. Ended rounds need none.
    told: { placement: number[]; index: number; seconds: number } | null = null;

    constructor(
        instances: number,
        private readonly elapsed: () => number,
    ) {
        this.moves = Array.from({ length: instances }, () => 0);
    }

    tell(instance: number, { moves, best_seconds, default_seconds, index, placement }: PlaceProgress): void {
        this.moves[instance] = moves;
        // Of several plans, the first is the one that the reader has.
        if (index === 0 || Number.isNaN(this.usual)) this.usual = default_seconds;
        if (placement && best_seconds < (this.told?.seconds ?? Number.POSITIVE_INFINITY))
            this.told = { placement, index, seconds: best_seconds };
        this.best = Math.min(this.best, best_seconds);
        // A line that goes on level needs its two ends only.
        if (this.points.length > 1 && this.points.at(-1)?.[1] === this.best && this.points.at(-2)?.[1] === this.best) this.points.pop();
        this.points.push([this.total(), this.best]);
        if (this.points.length > MOST_POINTS) this.points = this.points.filter((_, i, all) => i % 2 === 0 || i === all.length - 1);
    }

    // The first round is over before it could tell much of its course.
    fillIn(curve: Course['points']): void {
        if (this.points.length <= 1) this.points = curve.slice(1);
    }

    endRound(instance: number): void {
        this.done += this.moves[instance] ?? 0;
        this.moves[instance] = 0;
    }

    course(): Course {
        const seconds = this.elapsed();
        const moves = this.total();
        return {
            moves,
            moves_per_s: moves / Math.max(seconds, 1e-3),
            seconds,
            best_seconds: this.best,
            default_seconds: this.usual,
            points: [[0, this.usual], ...this.points],
        };
    }

    private total(): number {
        return this.moves.reduce((sum, one) => sum + one, this.done);
    }
}

// Of each plan the best of several answers, fastest first.
export function mergeRanked(known: readonly RankedPlacement[], more: readonly RankedPlacement[]): RankedPlacement[] {
    const best = new Map(known.map((one) => [one.index, one]));
    for (const one of more) {
        const before = best.get(one.index);
        if (!before || one.best_seconds < before.best_seconds) best.set(one.index, one);
    }
    return [...best.values()].sort((a, b) => a.best_seconds - b.best_seconds);
}

export interface Search {
    placers: readonly Placer[];
    request: Omit<PlaceAsked, 'candidates' | 'moves' | 'seed' | 'start'>;
    candidates?: readonly PlanRequest[]; // plans to be placed, the reader's own first
    links: LinkColumns;
    seconds: number;
    told(course: Course): void;
    signal: AbortSignal;
    now?: () => number; // ms
}

// All the searches, while they run.
class Searching {
    best: PlacedHere | null = null;
    ranked: RankedPlacement[] = [];
    refusal: Refusal | null = null;
    readonly report: Report;
    readonly share: number; // searches of each instance
    private readonly bests: number[]; // seconds, of each search
    private readonly started: number;
    private readonly now: () => number;

    constructor(private readonly search: Search) {
        this.now = search.now ?? (() => performance.now());
        this.started = this.now();
        this.share = Math.ceil(SEARCHES / search.placers.length);
        this.bests = Array.from({ length: this.share * search.placers.length }, () => Number.POSITIVE_INFINITY);
        this.report = new Report(search.placers.length, this.elapsed);
    }

    elapsed = (): number => (this.now() - this.started) / 1000;
    stop = (): void => {
        for (const placer of this.search.placers) placer.stop();
    };

    // How many took part, and how many found nothing worse.
    agreement(seconds: number): Pick<Found, 'searches' | 'agreed'> {
        const searches = this.bests.filter(Number.isFinite);
        return { searches: searches.length, agreed: searches.filter((one) => one <= seconds * (1 + TIE)).length };
    }

    private async round(placer: Placer, instance: number, id: number, round: number, moves: number, until: number) {
        const { request, candidates, links, told } = this.search;
        const seed = 1 + id + round * this.bests.length;
        const asked = { ...request, ...(candidates && { candidates: [...candidates] }), seed, moves };
        const better = (seconds: number): void => {
            this.bests[id] = Math.min(this.bests[id] ?? seconds, seconds);
        };
        const answer = await placer.place(asked, links, Math.max(0, until - this.elapsed()), (progress) => {
            better(progress.best_seconds);
            this.report.tell(instance, progress);
            told(this.report.course());
        });
        if (!answer.ok) {
            this.refusal = answer;
            this.stop();
            return null;
        }
        better(answer.best_seconds);
        const usual = answer.ranked.find(({ index }) => index === 0) ?? answer;
        this.report.tell(instance, { ...answer, default_seconds: usual.default_seconds, index: 0, placement: null });
        if (id === instance && round === 0 && this.search.placers.length === 1 && !candidates) this.report.fillIn(answer.curve);
        this.report.endRound(instance);
        this.ranked = mergeRanked(this.ranked, answer.ranked);
        if (!this.best || answer.best_seconds < this.best.best_seconds) this.best = answer;
        told(this.report.course());
        return answer;
    }

    // One search, which has the time until then. Is there anything for another one?
    private async one(placer: Placer, instance: number, id: number, until: number): Promise<boolean> {
        const { candidates, signal, seconds } = this.search;
        const least = FIRST_MOVES * (candidates?.length ?? 1); // shared among them
        const first = this.elapsed();
        let [moves, end] = [least, until];
        for (let round = 0; !this.refusal && !signal.aborted; ++round) {
            const begun = this.elapsed();
            const answer = await this.round(placer, instance, id, round, moves, end);
            if (!answer) return false;
            // Where links are alike no further round finds more. A gain that is small so far may grow.
            if (answer.nothing_to_gain && answer.best_seconds >= answer.default_seconds && !candidates) return false;
            const took = Math.max(this.elapsed() - begun, 1e-3);
            // So slow that a part of the time is none: all of it is for this search.
            if (round === 0 && took > (end - first) / 2) end = seconds;
            const left = end - this.elapsed();
            if (left < Math.min(LEAST_SECONDS, LEAST_PART * (end - first))) break;
            const rate = answer.moves_per_s ?? answer.moves / took;
            const reading = Math.max(0, took - answer.moves / rate); // of the measurement, before the first move
            const room = rate * (left - reading);
            if (room < least) break;
            // Two rounds more must both be worth it; else the next one is the last.
            moves = Math.round(room < 2 * moves * GROWTH ? room : moves * GROWTH);
        }
        return end === until;
    }

    work = async (placer: Placer, instance: number): Promise<void> => {
        const { placers, seconds } = this.search;
        for (let turn = 0; turn < this.share; ++turn) {
            const more = await this.one(placer, instance, instance + turn * placers.length, (seconds * (turn + 1)) / this.share);
            if (!more || this.refusal || this.search.signal.aborted) return;
        }
    };
}

// null when it was stopped before there was anything to keep.
export async function findPlacement(search: Search): Promise<Found | Refusal | null> {
    const { placers, signal } = search;
    const searching = new Searching(search);
    signal.addEventListener('abort', searching.stop, { once: true });
    const ends = await Promise.allSettled(placers.map(searching.work));
    signal.removeEventListener('abort', searching.stop);
    if (searching.refusal) return searching.refusal;
    const crashes = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []));
    const unexpected = crashes.find((reason) => !(reason instanceof CoreCrash));
    if (unexpected) throw unexpected;
    const kept = await keep(search, searching.best, searching.report);
    // One instance that fails takes nothing away from the others.
    if (!kept && !signal.aborted && crashes.length > 0) throw crashes[0];
    if (!kept) return null;
    const answer = { ...kept, ranked: searching.ranked };
    return { answer, course: searching.report.course(), ...searching.agreement(kept.best_seconds), stopped: signal.aborted };
}

// An instance that is stopped takes its best with it; what it last told of is worked out once more.
async function keep(
    { placers, request, candidates, links }: Search,
    best: PlacedHere | null,
    { told }: Report,
): Promise<PlacedHere | null> {
    const [placer] = placers;
    if (!placer || !told || (best && best.best_seconds <= told.seconds)) return best;
    const plan = candidates?.[told.index];
    const only = plan && { candidates: [plan] };
    const answer = await placer.place({ ...request, ...only, start: told.placement, moves: 0 }, links, 0, () => {});
    return answer.ok ? answer : best;
}

// ---- what a measurement's colours say: shares of the median that part the classes
export const BORDERS = [0.25, 0.5, 0.75, 0.9, 1.1] as const;
export const CLASSES = BORDERS.length + 1;

export function classOf(rate: number, median: number): number {
    const share = rate / median;
    const index = BORDERS.findIndex((border) => share < border);
    return index < 0 ? BORDERS.length : index;
}

// Links slower than half the median, and how many there are.
export function countSlow(rates: Float64Array, median: number): { slow: number; all: number } {
    let slow = 0;
    let all = 0;
    for (const rate of rates) {
        if (Number.isNaN(rate)) continue;
        ++all;
        if (rate < median / 2) ++slow;
    }
    return { slow, all };
}

// ---- an example, made up: every link is about as fast, and one is not
export function exampleText(comment: string, nodes = 8): string {
    const name = (i: number): string => `node-${i + 1}`;
    const slow = (a: number, b: number): boolean => Math.min(a, b) === 2 && Math.max(a, b) === 3;
    const rate = (from: number, to: number): string =>
        from === to ? '' : slow(from, to) ? (from < to ? '4.1' : '4.3') : (46 + ((from * 7 + to * 5) % 9) * 0.4).toFixed(1);
    const all = Array.from({ length: nodes }, (_, i) => i);
    return [
        `# ${comment}`,
        ['GB/s', ...all.map(name)].join(','),
        ...all.map((from) => [name(from), ...all.map((to) => rate(from, to))].join(',')),
    ].join('\n');
}

// ---- the picture: positions in a grid, pipeline stages in columns
export interface Spot {
    position: number;
    column: number;
    row: number;
}
export interface Grid {
    spots: Spot[]; // by position
    columns: number;
    rows: number;
    stages: number[]; // the first one of each column
    hops: [from: number, to: number][]; // positions that hand micro-batches on
    rings: [from: number, to: number][]; // neighbours among those that hold the same stage
}

// Positions that hold parts of one copy (TP and CP across nodes) have a ring each.
function ringsOf(column: readonly PlacedAt[]): Grid['rings'] {
    const lanes: number[][] = [];
    let lane = 0;
    column.forEach(({ position, data_ranks }, i) => {
        lane = i > 0 && column[i - 1]?.data_ranks[0] === data_ranks[0] ? lane + 1 : 0;
        lanes[lane] = [...(lanes[lane] ?? []), position];
    });
    return lanes.flatMap((ring) =>
        ring.flatMap((from, i): Grid['rings'] => {
            const to = ring[i + 1] ?? (ring.length > 2 ? ring[0] : undefined);
            return to === undefined ? [] : [[from, to]];
        }),
    );
}

// With one stage there is a ring and nothing else: it is drawn there and back, in two rows.
export function gridOf(positions: readonly PlacedAt[]): Grid {
    const stages = [...new Set(positions.map((one) => one.stages[0]))].sort((a, b) => a - b);
    const columns = stages.map((stage) => positions.filter((one) => one.stages[0] === stage));
    const rings = columns.flatMap(ringsOf);
    if (columns.length === 1) {
        const count = positions.length;
        const half = Math.ceil(count / 2);
        const spots = positions.map(({ position }, i) => ({ position, row: i < half ? 0 : 1, column: i < half ? i : count - 1 - i }));
        return { spots, columns: half, rows: count > 1 ? 2 : 1, stages, hops: [], rings };
    }
    const spots = columns.flatMap((list, column) => list.map(({ position }, row) => ({ position, column, row })));
    const hops = columns.slice(1).flatMap((next, i) =>
        (columns[i] ?? []).flatMap((from, row): [number, number][] => {
            const to = next[Math.min(row, next.length - 1)];
            return to ? [[from.position, to.position]] : [];
        }),
    );
    return {
        spots: spots.sort((a, b) => a.position - b.position),
        columns: columns.length,
        rows: Math.max(...columns.map((list) => list.length)),
        stages,
        hops,
        rings,
    };
}
