// The same training on every GPU of the catalogue and on the reader's own, and on fewer and more of them: which is done soonest, which costs least.
import type { Catalog, Estimate, FieldKey, JobRefusal, Run } from '../core/api';
import { type Core, CoreCrash } from '../core/client';
import { allAuto, CUSTOM_GPU, defaults, figures, type Job } from '../state/state';

export type Asker = Pick<Core, 'estimate' | 'stop' | 'end'>;

// What was measured on the reader's own cluster, its links and its cards, says nothing of another's.
const OF_THE_CLUSTER: readonly FieldKey[] = ['price_per_gpu_hour', 'watts_per_gpu', 'gpus_per_node'];
const isMeasured = (key: string): boolean => /^(site|time|memory|measured)_|^site$/.test(key);

const TIMES = [1, 1 / 8, 1 / 4, 1 / 2, 2, 4, 8]; // the run's own number first: its rows stand soonest
const MOST_GPUS = 131_072;

export interface Card {
    gpu: string; // its id, or "custom"
    gpus: number;
    job: Job; // with the plan left to the search
}

export function cardsOf(job: Job, catalog: Catalog): Card[] {
    const usual = defaults(catalog);
    const elsewhere = Object.fromEntries(
        catalog.fields.filter(({ key }) => isMeasured(key) || OF_THE_CLUSTER.includes(key)).map(({ key }) => [key, usual[key]]),
    );
    const now = Number(job.gpus);
    const counts = TIMES.map((times) => now * times).filter((gpus) => Number.isInteger(gpus) && gpus >= 1 && gpus <= MOST_GPUS);
    const own = job.gpu === CUSTOM_GPU ? [CUSTOM_GPU] : []; // its row stands first
    // What has a list price can be weighed, days against money: it stands before what has none.
    const listed = [true, false].flatMap((priced) => catalog.gpus.filter((gpu) => (gpu.usd_per_gpu_hour !== undefined) === priced));
    return counts.flatMap((gpus) =>
        [...own, ...listed.map(({ id }) => id)].map((gpu) => ({
            gpu,
            gpus,
            job: { ...job, ...allAuto(catalog), ...(gpu === job.gpu ? {} : { ...elsewhere, cluster: '' }), gpu, gpus } as Job,
        })),
    );
}

export interface Worked extends Card {
    answer: Estimate | JobRefusal;
}
export type Fitting = Worked & { answer: Estimate; run: Run };
export const fittingOf = (all: readonly Worked[]): Fitting[] =>
    all.flatMap((one) =>
        one.answer.ok && one.answer.class === 'fits' && one.answer.time.run
            ? [{ ...one, answer: one.answer, run: one.answer.time.run }]
            : [],
    );

// What nothing beats in both: no other is as soon done for less money, or sooner for as much.
export function frontOf(fitting: readonly Fitting[]): Set<Fitting> {
    const priced = fitting.filter(({ run }) => run.cost !== null);
    const beats = (a: Run, b: Run): boolean =>
        a.days <= b.days && (a.cost ?? 0) <= (b.cost ?? 0) && (a.days < b.days || (a.cost ?? 0) < (b.cost ?? 0));
    return new Set(priced.filter((one) => !priced.some((other) => beats(other.run, one.run))));
}

const least = (list: readonly Fitting[], of: (run: Run) => number): Fitting | undefined =>
    list.reduce<Fitting | undefined>((best, one) => (best && of(best.run) <= of(one.run) ? best : one), undefined);

export const cheapestWithin = (fitting: readonly Fitting[], days: number): Fitting | undefined =>
    least(
        fitting.filter(({ run }) => run.cost !== null && run.days <= days),
        ({ cost }) => cost ?? 0,
    );
export const fastestFor = (fitting: readonly Fitting[], money: number): Fitting | undefined =>
    least(
        fitting.filter(({ run }) => run.cost !== null && run.cost <= money),
        ({ days }) => days,
    );

export interface Progress {
    worked: readonly Worked[];
    state: 'running' | 'stopped' | 'failed' | 'done';
}

// One after the other, on an instance of the core of its own, all at list prices: what the reader pays for one GPU, in a currency that is not
// said, is no measure of the others. Returns what stops it.
export function workOut(asker: Asker, cards: readonly Card[], known: readonly Worked[], told: (progress: Progress) => void): () => void {
    let stopped = false;
    let worked = known;
    const go = async (): Promise<void> => {
        for (const card of cards.slice(known.length)) {
            const answer = await asker.estimate(figures({ ...card.job, price_per_gpu_hour: 'auto' }));
            if (stopped) return;
            worked = [...worked, { ...card, answer }];
            told({ worked, state: 'running' });
        }
        asker.end();
        told({ worked, state: 'done' });
    };
    go().catch((error: unknown) => {
        if (!(error instanceof CoreCrash)) throw error;
        if (!stopped) told({ worked, state: 'failed' });
    });
    return () => {
        if (stopped) return;
        stopped = true;
        asker.stop();
        told({ worked, state: 'stopped' });
    };
}
