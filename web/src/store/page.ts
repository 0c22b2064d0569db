// What the page shows and what can be done on it: the types that the store keeps and the views draw.
import type { Alternatives, Catalog, Estimate, Limits, Problem, Refusal } from '../core/api';
import type { Heat, HeatFilter } from '../core/heat';
import type { Depth } from '../state/depth';
import { type Answered, type Job, type Pin, pinOf, type Value } from '../state/state';
import type { Language } from '../words/language';
import type { Only, Ranking } from './ranked';
import { noRanking } from './ranked';

export type How = 'type' | 'choose'; // typing replaces the history entry, a choice makes a new one

export type NoticeId = 'unknown' | 'newer' | 'widened' | 'crash' | 'too_large' | 'missing' | 'update';

export interface Notice {
    id: NoticeId;
    details: string;
    reload?: () => void; // a newer build of the page is there
    mended?: string | undefined; // the address with what was meant
}

export interface OpenItem {
    group: string;
    item: string;
    at?: 'bar'; // its card stands under the bar; without, in the table
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
    explains: boolean; // every answer says how its numbers come about, since that was to be read
    exactBytes: boolean;
    pasting: { text: string } | null; // the dialog and the text it starts with
    measured: string | null; // runs that a log gave, for the calibration
    rate: string; // the convention of counting FLOP that is shown, an id of the answer's rates
    pins: readonly Pin[]; // plans put aside, in the order of the reader
    pinAnswers: Readonly<Record<string, Estimate | Refusal>>; // by the pin's text; of plans no longer pinned too
    notices: Notice[];
    language: Language;
    depth: Depth;
}

export interface Actions {
    change(values: Job, how: How): void;
    replaceJob(job: Job, how: How): void;
    open(item: OpenItem | null): void;
    explain(): void; // how a number comes about is to be read, and the answer does not say
    showStage(stage: number | null): void;
    showBytes(shown: boolean): void;
    paste(text: string | null): void;
    measure(runs: string): void;
    filter(degrees: HeatFilter, list?: Only, how?: How): void;
    onlyFitting(only: boolean): void;
    showRate(id: string): void;
    pin(answered: Answered): void; // a whole job with nothing left on "auto", as an answer holds it
    unpin(pin: Pin): void;
    whyNot(degrees: Ranking['asked']): void;
    wantLimits(): void;
    setDays(days: Value): void;
    notify(id: NoticeId, details?: string, more?: Partial<Notice>): void;
    dismiss(id: NoticeId): void;
    speak(language: Language): void;
    deepen(depth: Depth, chosen?: boolean): void; // a choice is kept; a link into a section is none
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
    explains: false,
    exactBytes: false,
    pasting: null,
    measured: null,
    rate: 'full',
    pins: [],
    pinAnswers: {},
    notices: [],
    language: 'en',
    depth: 'plain',
});

// A pin with everything that it left open, once it has been worked out.
export const resolvedPin = ({ pinAnswers, catalog }: Page, pin: Pin): Pin => {
    const answer = pinAnswers[pin.text];
    return answer?.ok ? pinOf(answer.job, catalog) : pin;
};

// The pin that is this very plan.
export const pinLike = (page: Page, { text }: Pin): Pin | undefined =>
    page.pins.find((pin) => pin.text === text || resolvedPin(page, pin).text === text);
