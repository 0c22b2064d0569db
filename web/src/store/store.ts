// What the page shows, and the only code that changes it: a change of the job goes to the workers, their answers come back here, and
// the views draw what is here. One way round.

import type { Estimate, Refusal } from '../core/api';
import { type Core, CoreCrash, latestOnly } from '../core/client';
import type { Heat } from '../core/heat';
import { allAuto, CUSTOM_MODEL, isPinned, type Job, MAX_PINS, type Pin, pinOf, request, withoutConfig } from '../state/state';
import { createAlternatives, createLimits, createPins, LATE_MS, TYPING_MS } from './asks';
import type { Actions, How, Page } from './page';
import { createRankings } from './ranking';

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
