// The answer itself. It is asked for with every change; what follows from it, and when the page says that it is late, is decided here.
import type { Estimate, Refusal } from '../core/api';
import { type Core, latestOnly } from '../core/client';
import { figures, type Job, request } from '../state/state';
import { type Desk, LATE_MS } from './asks';
import type { How, Page } from './page';

const CALM_MS = 600; // a half-typed number is no mistake yet

type Timer = ReturnType<typeof setTimeout>;

export interface Following {
    ranking(): void;
    alternatives(job: Job): void;
    map: { ask(job: Job, chosen: boolean): void; isOf(job: Job): boolean };
}

export function createAnswers(
    { page, update, recover }: Desk,
    estimate: Core['estimate'],
    { ranking, alternatives, map }: Following,
    shown: (then: () => void) => void,
) {
    let how: How = 'choose'; // the last change
    let lateTimer: Timer | undefined;
    let calmTimer: Timer | undefined;
    // What follows from an answer. Meanwhile the job may have become another, whose own answer brings this.
    const follow = (job: Job): void => {
        if (job !== page().job || map.isOf(job)) return; // another stage of the same job needs nothing else anew
        ranking(); // the shortest first: one worker answers these, one after the other
        alternatives(job);
        map.ask(job, how === 'choose');
    };
    const settle = (answer: Estimate | Refusal, job: Job): void => {
        clearTimeout(lateTimer);
        clearTimeout(calmTimer);
        if (answer.ok) {
            update({ answer, problems: [], late: false });
            shown(() => follow(job));
            return;
        }
        const show = (): void => update({ problems: answer.problems, late: false, alternativesStale: true });
        if (how === 'type') calmTimer = setTimeout(show, CALM_MS);
        else show();
        ranking();
        map.ask(job, how === 'choose');
    };
    const ask = latestOnly(
        ({ job, stage, explains }: Pick<Page, 'job' | 'stage' | 'explains'>) =>
            estimate({ ...(explains ? request(job) : figures(job)), ...(stage !== null && { stage }) }),
        (answer, { job }) => settle(answer, job),
        (error) => {
            if (page().explains) update({ explains: false }); // the figures need less of the module: they may come still
            recover(error, () => ask(page()));
        },
    );
    return {
        ask: () => ask(page()),
        // The reader did something: from here on an answer can be late.
        expect(by: How): void {
            how = by;
            clearTimeout(lateTimer);
            lateTimer = setTimeout(() => update({ late: true }), LATE_MS);
        },
        calm(): void {
            how = 'choose';
        },
        giveUp: () => clearTimeout(lateTimer),
    };
}
