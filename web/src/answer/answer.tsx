import type { ComponentChildren, FunctionComponent } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Alternatives, Change, Estimate, Fit } from '../core/api';
import type { Core } from '../core/client';
import { entryAt, type Heat } from '../core/heat';
import { Calibrated } from '../evidence/calibrated';
import { format } from '../format/format';
import { sizes, sizesOf, spokenOf, stepChange, verdictOf } from '../shared/answer-words';
import { problemId } from '../shared/field-problems';
import { Folded } from '../shared/folded';
import { problemText } from '../shared/names';
import { allAuto, type Job } from '../state/state';
import type { Actions, Page } from '../store/page';
import { say, spoken, tell } from '../words/words';
import { Bar } from './bar';
import type { CardProps } from './card';
import { Problems } from './problems';
import { Split, whoseOf } from './split';
import { Sure } from './sure';
import { Tiles, WrongBudget } from './tiles';

const SIGNS = {
    fits: 'M4 12.5l5 5L20 6.5',
    at_risk: 'M12 4v10M12 18.5v1.5',
    does_not_fit: 'M5.5 5.5l13 13M18.5 5.5l-13 13',
    cannot: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M5.8 5.8l12.4 12.4',
};

function Sign({ kind }: { kind: keyof typeof SIGNS }) {
    return (
        <svg viewBox="0 0 24 24" aria-hidden="true">
            <path d={SIGNS[kind]} />
        </svg>
    );
}

const ANNOUNCE_MS = 700; // a screen reader hears where the reader arrives, not every stop on the way

type Announced = Pick<Page, 'answer' | 'problems' | 'job' | 'catalog' | 'late'>;

function Announcement({ page }: { page: Announced }) {
    const [said, hear] = useState('');
    const { answer, problems, job, catalog, late } = page;
    useEffect(() => {
        const timer = setTimeout(() => hear(late ? say('answer.late') : spokenOf(page)), ANNOUNCE_MS);
        return () => clearTimeout(timer);
    }, [answer, problems, job, catalog, late, spoken()]);
    return (
        <p class="sr" aria-live="polite">
            {said}
        </p>
    );
}

function memoryOf(answer: Estimate): string {
    const { used, card, share } = sizes(answer);
    if (share > 1) return say('answer.needs', { used, card });
    return answer.class === 'does_not_fit' ? say('answer.too_close', { used, card }) : say('answer.fullest', { used, card });
}

function Headline({ page }: { page: Page }) {
    const { answer, problems } = page;
    const [problem] = problems;
    if (problem) {
        return (
            <h1 class="refused">
                <span class="verdict cannot">
                    <Sign kind="cannot" />
                    {verdictOf(problem)}
                </span>{' '}
                <span class="rest" id={problemId(0)}>
                    {tell(problem.message)}
                </span>
            </h1>
        );
    }
    if (!answer) return null;
    return (
        <h1>
            <span class={`verdict ${answer.class}`}>
                <Sign kind={answer.class} />
                {say(`answer.${answer.class}`)}
            </span>{' '}
            <span class="rest">{memoryOf(answer)}</span>
        </h1>
    );
}

// What does not fit: whether another split may help.
function becauseOf(page: Page, answer: Estimate) {
    if (answer.class !== 'does_not_fit') return null;
    return (
        <p class="lede">{whoseOf(page) === 'all' ? say('answer.no_plan', { gpus: Number(answer.job.gpus) }) : say('answer.other_plan')}</p>
    );
}

interface More {
    gpus: number;
    whole_bytes: number;
    step_seconds: number;
    touches: string;
}

// The fewest GPUs, among those of the map, from which on some plan fits.
function moreOfMap(heat: Heat, now: number): More | null {
    const { summary, columns } = heat;
    for (const { gpus, row } of summary.auto) {
        const entry = entryAt(heat, row, gpus);
        if (gpus <= now || entry < 0 || columns.class[entry] !== 0) continue;
        const [whole_bytes, step_seconds] = [columns.whole_bytes[entry] ?? 0, columns.step_seconds[entry] ?? 0];
        return { gpus, whole_bytes, step_seconds, touches: say('changes.gpus_touch') };
    }
    return null;
}

// Where the map ends before any plan fits: the fewest GPUs of all. What is known of the job before says nothing of this one.
function moreGpus({ job, heat, heatOf, heatFilter, limits, limitsStale }: Page, now: number): More | null {
    if (!heat || heatOf !== job || Object.keys(heatFilter).length > 0) return null;
    const fewest = limitsStale ? null : limits?.fewest_gpus;
    return moreOfMap(heat, now) ?? (fewest && fewest.gpus > now ? { ...fewest, touches: say('changes.gpus_fewest') } : null);
}

const MOST_CHANGES = 5;

// What a step of another plan takes, beside the plan shown.
const stepBeside = ({ time, equally_good }: Estimate, seconds: number): string =>
    stepChange(seconds, time.step_seconds, equally_good.width);

// What a change does to the memory of the fullest GPU and to the time of a step.
const effectOf = (answer: Estimate, one: Change): string =>
    say('changes.effect', { memory: format.change(-one.saved_bytes), step: stepBeside(answer, one.step_seconds) });

// Changes of the run that is shown: those of the one before, which stay until these are there, say nothing of it.
const changesOf = (alternatives: Alternatives | null, { job }: Estimate): Change[] =>
    alternatives && JSON.stringify(alternatives.job) === JSON.stringify(job) ? alternatives.changes : [];

// Single changes that lower the memory, those that make it fit first. What fits already may still want to save.
function Changes({ page, answer, act }: { page: Page; answer: Estimate; act: Actions }) {
    const fits = answer.class === 'fits';
    if (fits && page.depth === 'plain') return null; // nothing has to change
    const { alternatives, alternativesStale } = page;
    const more = fits ? null : moreGpus(page, Number(answer.job.gpus));
    // Two ways to more GPUs would be one too many: this one is known to fit.
    const useful = changesOf(alternatives, answer).filter((change) => !(more && 'gpus' in change.set));
    const list = [...useful.filter((one) => one.class === 'fits'), ...useful.filter((one) => one.class !== 'fits')];
    if (list.length === 0 && !more) return null;
    const button = (label: string, effect: string, fit: Fit, small: string, set: Job) => (
        <li key={label}>
            <button type="button" onClick={() => act.change(set, 'choose')}>
                <span>
                    <b>{label}</b> {effect} <span class={`word ${fit}`}>{say(`fit.${fit}`)}</span>
                </span>{' '}
                {small && <small>{small}</small>}
            </button>
        </li>
    );
    const buttons = (
        <ul>
            {more &&
                button(
                    say('changes.gpus', { gpus: more.gpus }),
                    say('changes.effect_whole', {
                        ...sizesOf(more.whole_bytes, answer),
                        step: stepBeside(answer, more.step_seconds),
                    }),
                    'fits',
                    more.touches,
                    { gpus: more.gpus, ...allAuto(page.catalog) },
                )}
            {list
                .slice(0, MOST_CHANGES - (more ? 1 : 0))
                .map((one) => button(tell(one.label), effectOf(answer, one), one.class, tell(one.touches), one.set))}
        </ul>
    );
    if (fits) {
        return (
            <div class={alternativesStale ? 'changes stale' : 'changes'}>
                <Folded title={say('changes.save')}>{buttons}</Folded>
            </div>
        );
    }
    return (
        <div class={alternativesStale ? 'changes stale' : 'changes'}>
            <h2>{say('changes.title')}</h2>
            {buttons}
        </div>
    );
}

interface AnswerProps {
    page: Page;
    act: Actions;
    exportPlan: Core['exportPlan'];
    Card: FunctionComponent<CardProps>;
    children?: ComponentChildren; // what else is known of how sure the answer is
}

export function Answer({ page, act, exportPlan, Card, children }: AnswerProps) {
    const { answer, problems } = page;
    const good = problems.length === 0 && answer !== null;
    return (
        <section id="answer" class={page.late ? 'answer late' : 'answer'} aria-label={say('answer.label')} tabIndex={-1}>
            <Announcement page={page} />
            <div class="answers">
                <div>
                    <Headline page={page} />
                    <Problems page={page} act={act} />
                    {!good && <WrongBudget page={page} act={act} />}
                    {!good && answer && <p class="stale-mark">{say('answer.stale')}</p>}
                    {answer && (
                        <div class={good ? 'result' : 'result stale'}>
                            <Bar page={page} answer={answer} act={act} Card={Card} />
                        </div>
                    )}
                    {good && (
                        <>
                            {becauseOf(page, answer)}
                            {answer.class !== 'fits' && <Changes page={page} answer={answer} act={act} />}
                            <Calibrated answer={answer} />
                            <Sure answer={answer}>{children}</Sure>
                            {answer.warnings.map((warning) => (
                                <p key={warning.rule} class="warning">
                                    <b>{say('problems.warning')}</b> {problemText(warning)}
                                </p>
                            ))}
                        </>
                    )}
                </div>
                {good && <Tiles page={page} answer={answer} act={act} />}
            </div>
            {good && <Split page={page} answer={answer} act={act} exportPlan={exportPlan} />}
            {good && answer.class === 'fits' && <Changes page={page} answer={answer} act={act} />}
        </section>
    );
}
