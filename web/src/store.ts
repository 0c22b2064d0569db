// What the page shows, and the only code that changes it: a change of the job goes to the workers, their answers come back here, and
// the views draw what is here. One way round.

import type { Alternatives, Catalog, Estimate, Limits, Problem, Refusal } from './api';
import { createAlternatives, createLimits, createPins, LATE_MS, TYPING_MS } from './asks';
import { type Core, CoreCrash, latestOnly } from './core';
import type { Heat, HeatFilter } from './heat';
import { createRankings, noRanking, type Only, type Ranking } from './ranking';
import { allAuto, CUSTOM_MODEL, isPinned, type Job, MAX_PINS, type Pin, pinOf, request, type Value, withoutConfig } from './state';

export type How = 'type' | 'choose'; // typing replaces the history entry, a choice makes a new one
export type NoticeId = 'unknown' | 'newer' | 'widened' | 'crash' | 'too_large' | 'missing';
export interface Notice {
    id: NoticeId;
    details: string;
}
export interface OpenItem {
    group: string;
    item: string;
}

export interface Page {
    catalog: Catalog;
    job: Job;
    answer: Estimate | null; // the last good one
    problems: Problem[]; // of the job as it is; when there are any, `answer` is an older job's
    stage: number | null; // the pipeline stage to show; null: the fullest. It goes with the job.
    late: boolean; // an answer is on its way and has taken long enough to say so
    alternatives: Alternatives | null; // they come after the answer
    alternativesStale: boolean; // they belong to the job before the last change
    heat: Heat | null;
    heatStale: boolean;
    heatOf: Job | null; // the job that the map was worked out for
    heatFilter: HeatFilter; // of the map and of the list of best configurations
    listFilter: Only; // of the list alone
    ranking: Ranking;
    onlyFitting: boolean;
    limits: Limits | null; // asked for once its view is on the page
    limitsStale: boolean;
    limitsProblems: Problem[]; // of the days; those of the job stand elsewhere
    days: Value; // in which the run should be done; a view's own, not part of the job
    open: OpenItem | null;
    exactBytes: boolean;
    pasting: { text: string } | null; // the dialog and the text it starts with
    rate: string; // the convention of counting FLOP that is shown, an id of the answer's rates
    pins: readonly Pin[]; // plans put aside, in the order of the reader
    pinAnswers: Readonly<Record<string, Estimate | Refusal>>; // by the pin's text; of plans no longer pinned too
    notices: Notice[];
}

export interface Actions {
    change(values: Record<string, Value>, how: How): void;
    replaceJob(job: Job, how: How): void;
    open(item: OpenItem | null): void;
    showStage(stage: number | null): void;
    showBytes(shown: boolean): void;
    paste(text: string | null): void;
    filter(degrees: HeatFilter, list?: Only, how?: How): void;
    onlyFitting(only: boolean): void;
    showRate(id: string): void;
    pin(answered: Estimate['job']): void; // a whole job with nothing left on "auto", as an answer holds it
    unpin(pin: Pin): void;
    whyNot(degrees: Ranking['asked']): void;
    wantLimits(): void;
    setDays(days: Value): void;
    notify(id: NoticeId, details?: string): void;
    dismiss(id: NoticeId): void;
}

export const emptyPage = (catalog: Catalog, job: Job): Page => ({
    catalog,
    job,
    answer: null,
    problems: [],
    stage: null,
    late: false,
    alternatives: null,
    alternativesStale: false,
    heat: null,
    heatStale: false,
    heatOf: null,
    heatFilter: {},
    listFilter: {},
    ranking: noRanking,
    onlyFitting: true,
    limits: null,
    limitsStale: false,
    limitsProblems: [],
    days: 30,
    open: null,
    exactBytes: false,
    pasting: null,
    rate: 'full',
    pins: [],
    pinAnswers: {},
    notices: [],
});

// A pin with everything that it left open, once it has been worked out.
export const resolvedPin = ({ pinAnswers, catalog }: Page, pin: Pin): Pin => {
    const answer = pinAnswers[pin.text];
    return answer?.ok ? pinOf(answer.job, catalog) : pin;
};

// The pin that is this very plan.
export const pinLike = (page: Page, { text }: Pin): Pin | undefined =>
    page.pins.find((pin) => pin.text === text || resolvedPin(page, pin).text === text);

// What the core reads of a config at most. A larger text is refused before it reaches the field: laying it out alone would stop the page.
export const MAX_CONFIG = 1_000_000;

const CALM_MS = 600; // a half-typed number is no mistake yet

type Timer = ReturnType<typeof setTimeout>;

export interface Surroundings {
    estimates: Pick<Core, 'estimate'>;
    searches: Pick<Core, 'alternatives' | 'estimate' | 'rank' | 'versus'>;
    // What may take seconds for a large model, each beside the rest.
    maps: Pick<Core, 'search' | 'stop'>;
    reverse: Pick<Core, 'limits' | 'stop'>;
    draw(page: Page): void;
    jobChanged(job: Job, how: How, pins: readonly Pin[]): void; // or the pins did
}

export function createStore(initial: Page, { estimates, searches, maps, reverse, draw, jobChanged }: Surroundings) {
    let page = initial;
    let how: How = 'choose';
    let lateTimer: Timer | undefined;
    let calmTimer: Timer | undefined;
    let crashes = 0;
    const update = (changes: Partial<Page>): void => {
        page = { ...page, ...changes };
        draw(page);
    };

    const askEstimate = latestOnly(
        ({ job, stage }: Pick<Page, 'job' | 'stage'>) => estimates.estimate({ ...request(job), ...(stage !== null && { stage }) }),
        (answer, { job }) => settle(answer, job),
        (error) => recover(error, () => askEstimate(page)),
    );
    let searched: Job | null = null; // another stage of the same job needs no other map
    const settle = (answer: Estimate | Refusal, job: Job): void => {
        crashes = 0;
        clearTimeout(lateTimer);
        clearTimeout(calmTimer);
        if (answer.ok) {
            update({ answer, problems: [], late: false });
            if (job === searched) return;
            rankings.ask(); // the shortest first: one worker answers these, one after the other
            askAlternatives(job);
            askSearch(job);
            return;
        }
        const show = (): void => update({ problems: answer.problems, late: false, alternativesStale: true });
        if (how === 'type') calmTimer = setTimeout(show, CALM_MS);
        else show();
        rankings.ask();
        askSearch(job);
    };

    // What the reader has set of the plan bounds the answer, not the map and the list: they look at every plan.
    const open = (job: Job): Job => ({ ...job, ...allAuto(page.catalog) });

    // The same columns stay while the number of GPUs moves among them: a click into the map must not shift it.
    const columnsFor = (job: Job): object => {
        const counts = page.heat?.summary.gpu_counts;
        return counts && typeof job.gpus === 'number' && counts.includes(job.gpus) ? { gpu_counts: counts } : {};
    };
    const askSearch = latestOnly(
        (job: Job) => {
            searched = job;
            const timer = setTimeout(() => update({ heatStale: true }), LATE_MS);
            return maps.search({ ...request(open(job)), ...columnsFor(job) }, page.heatFilter).finally(() => clearTimeout(timer));
        },
        (heat, job) => {
            if (heat.summary.ok) update({ heat: heat as Heat, heatStale: false, heatOf: job });
            else update({ heatStale: true });
            if (heat.summary.ok) limits.soon();
        },
        (error) => recover(error, () => askSearch(page.job)),
        () => maps.stop(),
    );

    const setPins = (pins: readonly Pin[]): void => {
        update({ pins });
        jobChanged(page.job, 'choose', pins);
        askPins();
    };

    const rankings = createRankings({
        searches,
        asked: () => request(open(page.job)),
        auto: () => allAuto(page.catalog),
        only: () => ({ ...page.heatFilter, ...page.listFilter }),
        ranking: () => page.ranking,
        update: (changes) => update({ ranking: { ...page.ranking, ...changes } }),
        recover: (error, again) => recover(error, again),
    });
    const desk = { page: () => page, update, recover: (error: unknown, again: () => void) => recover(error, again) };
    const askAlternatives = createAlternatives(desk, searches.alternatives);
    const askPins = createPins(desk, searches.estimate);
    const limits = createLimits(desk, reverse);

    let filterTimer: Timer | undefined;
    const recover = (error: unknown, again: () => void): void => {
        if (!(error instanceof CoreCrash)) throw error;
        clearTimeout(lateTimer);
        update({ late: false });
        actions.notify('crash', error.message);
        if (++crashes === 1 && !error.askedTwice) again();
    };

    const actions: Actions = {
        change: (values, by) => actions.replaceJob({ ...page.job, ...values }, by),
        replaceJob(job, by) {
            how = by;
            const clean = job.model === CUSTOM_MODEL ? job : withoutConfig(job);
            clearTimeout(lateTimer);
            lateTimer = setTimeout(() => update({ late: true }), LATE_MS);
            update({ job: clean, stage: null });
            jobChanged(clean, by, page.pins);
            askEstimate(page);
        },
        showStage(stage) {
            update({ stage });
            askEstimate(page);
        },
        open: (open) => update({ open }),
        showBytes: (exactBytes) => update({ exactBytes }),
        paste: (text) => update({ pasting: text === null ? null : { text } }),
        filter(heatFilter, listFilter = page.listFilter, by = 'choose') {
            const ofMap = heatFilter !== page.heatFilter;
            update({ heatFilter, listFilter });
            clearTimeout(filterTimer);
            if (by === 'type') filterTimer = setTimeout(rankings.ask, TYPING_MS);
            else rankings.ask();
            if (ofMap) askSearch(page.job);
        },
        onlyFitting: (onlyFitting) => update({ onlyFitting }),
        showRate: (rate) => update({ rate }),
        pin(answered) {
            const pin = pinOf(answered, page.catalog);
            if (page.pins.length < MAX_PINS && !isPinned(page.pins, pin)) setPins([...page.pins, pin]);
        },
        unpin: ({ text }) => setPins(page.pins.filter((pin) => pin.text !== text)),
        whyNot: rankings.whyNot,
        wantLimits: limits.want,
        setDays(days) {
            update({ days });
            limits.soon();
        },
        notify: (id, details = '') => update({ notices: [...page.notices.filter((notice) => notice.id !== id), { id, details }] }),
        dismiss: (id) => update({ notices: page.notices.filter((notice) => notice.id !== id) }),
    };
    const restore = (job: Job): void => {
        how = 'choose';
        update({ job, stage: null });
        askEstimate(page);
    };
    const restorePins = (pins: readonly Pin[]): void => {
        update({ pins });
        askPins();
    };
    return { actions, restore, restorePins, current: () => page };
}
