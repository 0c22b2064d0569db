// What the page shows, and the only code that changes it: a change of the job goes to the workers, their answers come back here, and
// the views draw what is here. One way round.
import { type Core, CoreCrash } from '../core/client';
import type { Depth } from '../state/depth';
import { allAuto, inUse, isPinned, type Job, MAX_PINS, type Pin, pinOf, request } from '../state/state';
import type { Language } from '../words/language';
import { createAnswers } from './answers';
import { createAlternatives, createLimits, createMap, createPins, type Desk, TYPING_MS, withOpenPlan } from './asks';
import type { Actions, How, Page } from './page';
import { createRankings } from './ranking';

export interface Surroundings {
    estimates: Pick<Core, 'estimate'>;
    searches: Pick<Core, 'alternatives' | 'estimate' | 'rank' | 'versus'>;
    // What may take seconds for a large model, each beside the rest.
    maps: Pick<Core, 'search' | 'stop'>;
    reverse: Pick<Core, 'limits' | 'stop'>;
    draw(page: Page): void;
    shown(then: () => void): void; // when what was drawn is on the screen
    jobChanged(job: Job, how: How, pins: readonly Pin[]): void; // or the pins did
    speak(language: Language): Promise<void>;
    deepened(depth: Depth): void;
}

// Everything that is asked of the core, each with its own waiting.
function createAsking(desk: Desk, { estimates, searches, maps, reverse, shown }: Surroundings) {
    const { page, update, recover } = desk;
    const limits = createLimits(desk, reverse);
    const map = createMap(desk, maps, limits.soon);
    const rankings = createRankings({
        searches,
        asked: () => request(withOpenPlan(page(), page().job)),
        auto: () => allAuto(page().catalog),
        only: () => ({ ...page().heatFilter, ...page().listFilter }),
        ranking: () => page().ranking,
        update: (changes) => update({ ranking: { ...page().ranking, ...changes } }),
        recover,
    });
    const alternatives = createAlternatives(desk, searches.alternatives);
    const answers = createAnswers(desk, estimates.estimate, { ranking: rankings.ask, alternatives, map }, shown);
    return { answers, limits, map, rankings, pins: createPins(desk, searches.estimate) };
}
type Asking = ReturnType<typeof createAsking>;

function createActions(desk: Desk, asking: Asking, { jobChanged, speak, deepened }: Surroundings): Actions {
    const { page, update } = desk;
    const { answers, limits, map, rankings } = asking;
    let filterTimer: ReturnType<typeof setTimeout> | undefined;
    const setPins = (pins: readonly Pin[]): void => {
        update({ pins });
        jobChanged(page().job, 'choose', pins);
        asking.pins();
    };
    const actions: Actions = {
        change: (values, by) => actions.replaceJob({ ...page().job, ...values }, by),
        replaceJob(job, by) {
            const clean = inUse(job);
            answers.expect(by);
            update({ job: clean, stage: null });
            jobChanged(clean, by, page().pins);
            answers.ask();
        },
        showStage(stage) {
            update({ stage });
            answers.ask();
        },
        open: (open) => update({ open }),
        explain() {
            if (page().explains) return;
            update({ explains: true });
            answers.ask();
        },
        showBytes: (exactBytes) => update({ exactBytes }),
        paste: (text) => update({ pasting: text === null ? null : { text } }),
        measure(measured) {
            update({ measured, pasting: null, depth: 'detail' });
            deepened('detail');
        },
        filter(heatFilter, listFilter = page().listFilter, by = 'choose') {
            const ofMap = heatFilter !== page().heatFilter;
            update({ heatFilter, listFilter });
            clearTimeout(filterTimer);
            if (by === 'type') filterTimer = setTimeout(rankings.ask, TYPING_MS);
            else rankings.ask();
            if (ofMap) map.ask(page().job);
        },
        onlyFitting: (onlyFitting) => update({ onlyFitting }),
        showRate: (rate) => update({ rate }),
        pin(answered) {
            const { pins, catalog } = page();
            const pin = pinOf(answered, catalog);
            if (pins.length < MAX_PINS && !isPinned(pins, pin)) setPins([...pins, pin]);
        },
        unpin: ({ text }) => setPins(page().pins.filter((pin) => pin.text !== text)),
        whyNot: rankings.whyNot,
        wantLimits: limits.want,
        setDays(days) {
            update({ days });
            limits.soon();
        },
        notify: (id, details = '', more = {}) =>
            update({ notices: [...page().notices.filter((notice) => notice.id !== id), { id, details, ...more }] }),
        dismiss: (id) => update({ notices: page().notices.filter((notice) => notice.id !== id) }),
        deepen(depth, chosen = true) {
            update({ depth, open: null });
            if (chosen) deepened(depth);
        },
        speak(language) {
            speak(language).then(
                () => update({ language }),
                () => actions.notify('missing'),
            );
        },
    };
    return actions;
}

export function createStore(initial: Page, surroundings: Surroundings) {
    let page = initial;
    let crashes = 0; // since the last answer
    const update = (changes: Partial<Page>): void => {
        page = { ...page, ...changes };
        if (changes.answer || changes.problems) crashes = 0;
        surroundings.draw(page);
    };
    const recover = (error: unknown, again: () => void): void => {
        if (!(error instanceof CoreCrash)) throw error;
        asking.answers.giveUp();
        update({ late: false });
        actions.notify('crash', error.message);
        if (++crashes === 1 && !error.askedTwice) again();
    };
    const desk: Desk = { page: () => page, update, recover };
    const asking = createAsking(desk, surroundings);
    const actions = createActions(desk, asking, surroundings);
    const restore = (job: Job): void => {
        asking.answers.calm();
        update({ job, stage: null });
        asking.answers.ask();
    };
    const restorePins = (pins: readonly Pin[]): void => {
        update({ pins });
        asking.pins();
    };
    // The example's catalogue is without most of its sources.
    const know = (catalog: Page['catalog']): void => update({ catalog });
    return { actions, restore, restorePins, know, current: () => page };
}
