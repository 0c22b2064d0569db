// A search for a placement: several instances of the core, each with seeds of its own, in rounds that fill the time; the best is kept.
import type { Placed, PlacedAt, PlaceProgress, Refusal } from './api';
import { type Core, CoreCrash } from './core';

export type Placer = Pick<Core, 'place' | 'stop' | 'end'>;

// The instances that the view works with: one reads measurements, the others search.
export interface Placing {
    measure: Core['measure'];
    placers: readonly Placer[];
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
    answer: Placed;
    course: Course;
    seeds: number; // instances that took part
    stopped: boolean; // by the reader, before the time was over
}

// A short round tells how fast this size goes, and already improves on the default order; every further one cools more slowly, as long as
// the time allows.
const FIRST_MOVES = 60_000;
const GROWTH = 4;
const LEAST_SECONDS = 0.2; // what is left is not worth another round
const MOST_POINTS = 200;

// What the instances report, as one search.
export class Report {
    private moves: number[];
    private done: number[];
    private points: Course['points'] = [];
    private best = Number.POSITIVE_INFINITY;
    private fallback = Number.NaN;
    placement: number[] | null = null; // of the best that an instance has told of and not yet answered with

    constructor(
        instances: number,
        private readonly elapsed: () => number,
    ) {
        this.moves = Array.from({ length: instances }, () => 0);
        this.done = [...this.moves];
    }

    // Returns whether it is the best so far.
    tell(instance: number, { moves, best_seconds, default_seconds, placement }: PlaceProgress): boolean {
        this.moves[instance] = moves;
        this.fallback = default_seconds;
        if (this.points.length === 0) this.points.push([0, default_seconds]);
        const better = best_seconds < this.best;
        if (better) {
            this.best = best_seconds;
            this.placement = placement ?? null;
        }
        const last = this.points.at(-1);
        const next: [number, number] = [this.total(), this.best];
        // A line that goes on level needs its two ends only.
        if (last && this.points.length > 1 && last[1] === this.best && this.points.at(-2)?.[1] === this.best) this.points.pop();
        this.points.push(next);
        if (this.points.length > MOST_POINTS) this.points = this.points.filter((_, i, all) => i % 2 === 0 || i === all.length - 1);
        return better;
    }

    endRound(instance: number): void {
        this.done[instance] = (this.done[instance] ?? 0) + (this.moves[instance] ?? 0);
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
            default_seconds: this.fallback,
            points: [...this.points],
        };
    }

    private total(): number {
        return [...this.moves, ...this.done].reduce((sum, one) => sum + one, 0);
    }
}

export interface Search {
    placers: readonly Placer[];
    request: object; // of place(), without seed, moves and links
    links: string;
    seconds: number;
    told(course: Course): void;
    signal: AbortSignal;
    now?: () => number; // ms
}

// null when it was stopped before there was anything to keep.
export async function findPlacement({
    placers,
    request,
    links,
    seconds,
    told,
    signal,
    now = () => performance.now(),
}: Search): Promise<Found | Refusal | null> {
    const started = now();
    const elapsed = (): number => (now() - started) / 1000;
    const report = new Report(placers.length, elapsed);
    let best: Placed | null = null;
    let refusal: Refusal | null = null;
    const stop = (): void => {
        for (const placer of placers) placer.stop();
    };
    signal.addEventListener('abort', stop, { once: true });

    const work = async (placer: Placer, instance: number): Promise<void> => {
        let moves = FIRST_MOVES;
        for (let round = 0; !refusal && !signal.aborted; ++round) {
            const begun = elapsed();
            const seed = 1 + instance + round * placers.length;
            const answer = await placer.place({ ...request, seed, moves }, links, Math.max(0, seconds - begun), (progress) => {
                report.tell(instance, progress);
                told(report.course());
            });
            if (!answer.ok) {
                refusal = answer;
                stop();
                return;
            }
            report.tell(instance, answer);
            report.endRound(instance);
            if (!best || answer.best_seconds < best.best_seconds) best = answer;
            told(report.course());
            const left = seconds - elapsed();
            if (left < LEAST_SECONDS || answer.nothing_to_gain) return;
            const rate = answer.moves / Math.max(elapsed() - begun, 1e-3);
            moves = Math.max(FIRST_MOVES, Math.round(Math.min(moves * GROWTH, rate * left)));
        }
    };
    const ends = await Promise.allSettled(placers.map(work));
    signal.removeEventListener('abort', stop);
    if (refusal) return refusal;
    const crashes = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []));
    const unexpected = crashes.find((reason) => !(reason instanceof CoreCrash));
    if (unexpected) throw unexpected;
    const kept = await keep(placers[0], request, links, best, report);
    // One instance that fails takes nothing away from the others.
    if (!kept && !signal.aborted && crashes.length > 0) throw crashes[0];
    return kept && { answer: kept, course: report.course(), seeds: placers.length, stopped: signal.aborted };
}

// An instance that is stopped takes its best with it; what it last told of is worked out once more.
async function keep(
    placer: Placer | undefined,
    request: object,
    links: string,
    best: Placed | null,
    report: Report,
): Promise<Placed | null> {
    const { placement } = report;
    if (!placer || !placement || (best && best.best_seconds <= report.course().best_seconds)) return best;
    const answer = await placer.place({ ...request, start: placement, moves: 0 }, links, 0, () => {});
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
export function exampleText(nodes = 8): string {
    const name = (i: number): string => `node-${i + 1}`;
    const slow = (a: number, b: number): boolean => Math.min(a, b) === 2 && Math.max(a, b) === 3;
    const rate = (from: number, to: number): string =>
        from === to ? '' : slow(from, to) ? (from < to ? '4.1' : '4.3') : (46 + ((from * 7 + to * 5) % 9) * 0.4).toFixed(1);
    const all = Array.from({ length: nodes }, (_, i) => i);
    return [
        '# A made-up measurement, to try this with: one slow link between node-3 and node-4. GB/s, rows send, columns receive.',
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
