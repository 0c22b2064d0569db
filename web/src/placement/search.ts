// A search for a placement: several instances of the core, each with seeds of its own, in rounds that fill the time; the best is kept.
import type { PlacedAt, PlaceProgress, PlanRequest, RankedPlacement, Refusal } from '../core/api';
import { type Core, CoreCrash, type PlaceAsked } from '../core/client';
import type { LinkColumns, PlacedHere } from '../core/types';

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
    answer: PlacedHere;
    course: Course;
    seeds: number; // instances that took part
    stopped: boolean; // by the reader, before the time was over
}

// A short round tells how fast this size goes, and already improves on the default order; every further one cools more slowly, as long as
// the time allows.
const FIRST_MOVES = 60_000;
const GROWTH = 16;
const LEAST_SECONDS = 0.2; // what is left is not worth another round
const MOST_POINTS = 200;

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

// null when it was stopped before there was anything to keep.
export async function findPlacement(search: Search): Promise<Found | Refusal | null> {
    const { placers, candidates, links, seconds, told, signal, now = () => performance.now() } = search;
    const request = { ...search.request, ...(candidates && { candidates: [...candidates] }) };
    const least = FIRST_MOVES * (candidates?.length ?? 1); // shared among them
    const started = now();
    const elapsed = (): number => (now() - started) / 1000;
    const report = new Report(placers.length, elapsed);
    let best: PlacedHere | null = null;
    let ranked: RankedPlacement[] = [];
    let refusal: Refusal | null = null;
    const stop = (): void => {
        for (const placer of placers) placer.stop();
    };
    signal.addEventListener('abort', stop, { once: true });

    const work = async (placer: Placer, instance: number): Promise<void> => {
        let moves = least;
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
            const usual = answer.ranked.find(({ index }) => index === 0) ?? answer;
            report.tell(instance, { ...answer, default_seconds: usual.default_seconds, index: 0, placement: null });
            if (round === 0 && placers.length === 1 && !candidates) report.fillIn(answer.curve);
            report.endRound(instance);
            ranked = mergeRanked(ranked, answer.ranked);
            if (!best || answer.best_seconds < best.best_seconds) best = answer;
            told(report.course());
            const left = seconds - elapsed();
            // Where links are alike no further round finds more. A gain that is small so far may grow.
            const none = answer.nothing_to_gain && answer.best_seconds >= answer.default_seconds;
            if (left < LEAST_SECONDS || (none && !candidates)) return;
            const took = Math.max(elapsed() - begun, 1e-3);
            const rate = answer.moves_per_s ?? answer.moves / took;
            const reading = Math.max(0, took - answer.moves / rate); // of the measurement, before the first move
            const room = rate * (left - reading);
            if (room < least) return;
            // Two rounds more must both be worth it; else the next one is the last.
            moves = Math.round(room < 2 * moves * GROWTH ? room : moves * GROWTH);
        }
    };
    const ends = await Promise.allSettled(placers.map(work));
    signal.removeEventListener('abort', stop);
    if (refusal) return refusal;
    const crashes = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []));
    const unexpected = crashes.find((reason) => !(reason instanceof CoreCrash));
    if (unexpected) throw unexpected;
    const kept = await keep(search, best, report);
    // One instance that fails takes nothing away from the others.
    if (!kept && !signal.aborted && crashes.length > 0) throw crashes[0];
    return kept && { answer: { ...kept, ranked }, course: report.course(), seeds: placers.length, stopped: signal.aborted };
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
