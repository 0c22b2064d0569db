// What the store asks beside the answer itself: what other plans would come to, pinned plans, the reverse questions. Each keeps its own
// waiting and its own "older"; the store says what is asked and where an answer goes.
import type { Alternatives, Limits, Refusal, SearchRequest } from '../core/api';
import { type Core, latestOnly } from '../core/client';
import type { Heat } from '../core/heat';
import { allAuto, figures, type Job, type Pin, request, type Value } from '../state/state';
import type { Page } from './page';

export interface Desk {
    page(): Page;
    update(changes: Partial<Page>): void;
    recover(error: unknown, again: () => void): void;
}

export const LATE_MS = 150; // answers come within a frame; only a slow one is worth a word
export const TYPING_MS = 250; // the reverse questions keep a worker busy: not while the reader types

// What the reader has set of the plan bounds the answer, not the map and the list: they look at every plan.
export const withOpenPlan = ({ catalog }: Page, job: Job): Job => ({ ...job, ...allAuto(catalog) });

export function createMap({ page, update, recover }: Desk, maps: Pick<Core, 'search' | 'stop'>, done: () => void) {
    let searched: Job | null = null;
    let picked = false;
    // The same columns stay while the number of GPUs is picked among them: a click into the map must not shift it. A number that was typed
    // has the columns that a link with it has.
    const columnsFor = ({ gpus }: Job): Pick<SearchRequest, 'gpu_counts'> => {
        const counts = page().heat?.summary.gpu_counts;
        const stays = picked || gpus === searched?.gpus;
        return counts && stays && typeof gpus === 'number' && counts.includes(gpus) ? { gpu_counts: counts } : {};
    };
    const ask = latestOnly(
        (job: Job) => {
            const asked = { ...request(withOpenPlan(page(), job)), ...columnsFor(job) };
            searched = job;
            const timer = setTimeout(() => update({ heatStale: true }), LATE_MS);
            return maps.search(asked, page().heatFilter).finally(() => clearTimeout(timer));
        },
        (heat, job) => {
            if (heat.summary.ok) update({ heat: heat as Heat, heatStale: false, heatOf: job });
            else update({ heatStale: true });
            if (heat.summary.ok) done();
        },
        (error) => recover(error, () => ask(page().job)),
        () => maps.stop(),
    );
    return {
        ask(job: Job, chosen = false): void {
            picked = chosen;
            ask(job);
        },
        isOf: (job: Job): boolean => job === searched,
    };
}

// They come after the answer. Until then the older ones stay, and after a moment they say so.
export function createAlternatives({ page, update, recover }: Desk, alternatives: Core['alternatives']): (job: Job) => void {
    const ask = latestOnly(
        (job: Job) => {
            const timer = setTimeout(() => update({ alternativesStale: true }), LATE_MS);
            return alternatives(request(job)).finally(() => clearTimeout(timer));
        },
        (answer: Alternatives | Refusal) =>
            update(answer.ok ? { alternatives: answer, alternativesStale: false } : { alternativesStale: true }),
        (error) => recover(error, () => ask(page().job)),
    );
    return ask;
}

// Pinned plans are worked out beside the searches, one after the other, so that the plan being changed never waits for them.
export function createPins({ page, update, recover }: Desk, estimate: Core['estimate']): () => Promise<void> {
    let asking = false;
    const next = (): Pin | undefined => page().pins.find(({ text }) => !(text in page().pinAnswers));
    const ask = async (): Promise<void> => {
        if (asking) return;
        asking = true;
        try {
            for (let pin = next(); pin; pin = next()) {
                const answer = await estimate(figures(pin.job));
                update({ pinAnswers: { ...page().pinAnswers, [pin.text]: answer } });
            }
            asking = false;
        } catch (error) {
            asking = false;
            recover(error, ask);
        }
    };
    return ask;
}

type LimitsQuestion = Pick<Page, 'job' | 'days'>;

// Not before their view is there, and not while the reader types.
export function createLimits({ page, update, recover }: Desk, reverse: Pick<Core, 'limits' | 'stop'>) {
    let wanted = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let asked: { job: Job; days: Value } | null = null; // or about to be
    const ask = latestOnly(
        ({ job, days }: LimitsQuestion) => reverse.limits({ ...request(job), days }),
        (answer: Limits | Refusal, { job, days }) => {
            const limitsStale = job !== page().job || days !== page().days;
            if (answer.ok) update({ limits: answer, limitsStale, limitsProblems: [] });
            else update({ limitsStale: true, limitsProblems: answer.problems.filter(({ field }) => field === 'days') });
        },
        (error) => recover(error, () => ask(page())),
        () => reverse.stop(),
    );
    const soon = (): void => {
        const { job, days } = page();
        if (!wanted || (asked?.job === job && asked.days === days)) return;
        asked = { job, days };
        clearTimeout(timer);
        timer = setTimeout(() => ask({ job, days }), TYPING_MS);
        update({ limitsStale: true });
    };
    const want = (): void => {
        wanted = true;
        soon();
    };
    return { soon, want };
}
