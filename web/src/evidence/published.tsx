// The plan of a published run of the model beside the plan shown: what it would take on the run of the page.
import { useEffect, useState } from 'preact/hooks';
import type { Estimate, Refusal, TimeDifference } from '../core/api';
import type { Core } from '../core/client';
import { RANKED_KEYS } from '../core/types';
import { differencesOf } from '../plans/why-not';
import { isEqual, sizes } from '../shared/answer-words';
import { choiceLabel, problemText } from '../shared/names';
import { wholePlan } from '../shared/plan-words';
import { figures, formatLink, type Job } from '../state/state';
import { asSeen } from '../state/view';
import type { Page } from '../store/page';
import { say, sentences } from '../words/words';
import { famousRuns, jobOf, type Run, requestOf } from './prove';

const FAR = 4; // so many times more or fewer GPUs: that plan is none for this run
// What a published request says besides its plan: the run itself, its machine, and how the work is done there.
const NO_PLAN = new Set(
    ['model', 'gpu', 'cluster', 'gpus', 'gpus_per_node', 'sequence_length', 'global_batch', 'precision', 'framework', 'loss'].concat([
        'attention',
        'gradients_in_fp32',
        'hidden_dropout',
        'attention_dropout',
    ]),
);

const times = (a: unknown, b: unknown): number => Math.exp(Math.abs(Math.log(Number(a) / Number(b))));

// The nearest one in size and length.
function runLike(job: Job): Run | undefined {
    const away = ({ request: run }: Run): number =>
        times(run.gpus, job.gpus) * times(run.sequence_length, job.sequence_length) * (run.gpu === job.gpu ? 1 : FAR);
    return famousRuns
        .filter(({ request: run }) => run.model === job.model && times(run.gpus, job.gpus) <= FAR)
        .sort((a, b) => away(a) - away(b))[0];
}

// The run of the page with the published plan.
const withPlanOf = (run: Run, job: Job): Job => ({
    ...job,
    ...Object.fromEntries(Object.entries(requestOf(run)).filter(([key]) => !NO_PLAN.has(key))),
});

// How much longer or shorter each part of a step is, the largest difference first.
function differences(theirs: Estimate, ours: Estimate): TimeDifference[] {
    const sums = new Map<string, TimeDifference>();
    const add = ({ time }: Estimate, sign: number): void => {
        for (const { id, kind, seconds } of time.items) {
            const sum = sums.get(id);
            if (sum) sum.seconds += sign * seconds;
            else sums.set(id, { id, kind, seconds: sign * seconds });
        }
    };
    add(theirs, 1);
    add(ours, -1);
    return [...sums.values()].sort((a, b) => Math.abs(b.seconds) - Math.abs(a.seconds));
}

function hereText(theirs: Estimate | Refusal, ours: Estimate): string {
    if (!theirs.ok) return sentences(say('published.cannot'), theirs.problems[0] && problemText(theirs.problems[0]));
    const [seconds, than] = [theirs.time.step_seconds, ours.time.step_seconds];
    const compared = isEqual(seconds, than, ours.equally_good.width) ? 'equal' : seconds > than ? 'longer' : 'shorter';
    const reasons = compared === 'equal' ? '' : differencesOf(differences(theirs, ours));
    return say('published.takes', {
        ...sizes(theirs),
        fit: theirs.class,
        time: seconds,
        compared,
        share: Math.abs(seconds - than) / than,
        because: reasons === '' ? 'no' : 'yes',
        reasons,
    });
}

const isSame = (theirs: Estimate | Refusal, ours: Estimate): boolean =>
    theirs.ok && RANKED_KEYS.every((key) => theirs.job[key] === ours.job[key]);

// The very run that was published: then "it would not fit" is known to be wrong.
const SAME_RUN = ['gpu', 'gpus', 'sequence_length', 'global_batch', 'precision'] as const;
const ranSo = (theirs: Job, { job }: Estimate): boolean => SAME_RUN.every((key) => theirs[key] === job[key]);

interface Props {
    page: Pick<Page, 'catalog' | 'job'>;
    answer: Estimate;
    estimate: Core['estimate'];
}

export function Published({ page: { catalog, job }, answer, estimate }: Props) {
    const run = runLike(job);
    const [here, know] = useState<{ of: Job; answer: Estimate | Refusal } | null>(null);
    useEffect(() => {
        if (!run) return;
        let stale = false;
        estimate(figures(withPlanOf(run, job))).then(
            (found) => void (stale || know({ of: job, answer: found })),
            () => {}, // it is left unsaid
        );
        return () => {
            stale = true;
        };
    }, [job]);
    if (!run || here?.of !== job) return null;
    const theirs = jobOf(run, catalog);
    const precision = (id: unknown): string => choiceLabel(catalog, 'precision', String(id));
    const plan = wholePlan(catalog, here.answer.ok ? here.answer.job : theirs);
    return (
        <span class="published">
            <br />
            {isSame(here.answer, answer)
                ? say('published.same', { name: run.name })
                : sentences(
                      say('published.plan', { name: run.name, plan }),
                      hereText(here.answer, answer),
                      here.answer.ok && here.answer.class === 'does_not_fit' && ranSo(theirs, answer) && say('published.ran'),
                      theirs.precision !== answer.job.precision &&
                          say('published.precision', { theirs: precision(theirs.precision), yours: precision(answer.job.precision) }),
                  )}{' '}
            <a href={asSeen(formatLink(theirs, catalog))}>{say('published.open')}</a> (<a href={run.source.url}>{run.source.title}</a>)
        </span>
    );
}
