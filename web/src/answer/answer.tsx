import type { ComponentChildren, FunctionComponent } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Estimate } from '../core/api';
import type { Core } from '../core/client';
import { sizes, spokenOf, verdictOf } from '../shared/answer-words';
import { problemId } from '../shared/field-problems';
import type { Actions, Page } from '../store/page';
import { say, spoken, tell } from '../words/words';
import { Bar } from './bar';
import type { CardProps } from './card';
import { LaterBesides, LaterChanges, LaterProblems, LaterWarnings } from './later';
import { Split } from './split';
import { Sure } from './sure';
import { Tiles, WrongBudget } from './tiles';
import { whoseOf } from './whose';

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
    if (answer.host?.class === 'does_not_fit' && share <= 1) return tell(answer.host.verdict);
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

interface AnswerProps {
    page: Page;
    act: Actions;
    asks: Pick<Core, 'estimate' | 'exportPlan'>;
    Card: FunctionComponent<CardProps>;
    children?: ComponentChildren; // what else is known of how sure the answer is
}

export function Answer({ page, act, asks, Card, children }: AnswerProps) {
    const { answer, problems } = page;
    const good = problems.length === 0 && answer !== null;
    return (
        <section id="answer" class={page.late ? 'answer late' : 'answer'} aria-label={say('answer.label')} tabIndex={-1}>
            <Announcement page={page} />
            <div class="answers">
                <div>
                    <Headline page={page} />
                    <LaterProblems page={page} act={act} />
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
                            {answer.class !== 'fits' && <LaterChanges page={page} answer={answer} act={act} />}
                            <LaterBesides page={page} answer={answer} />
                            <Sure answer={answer} depth={page.depth}>
                                {children}
                            </Sure>
                            {answer.warnings.length > 0 && <LaterWarnings answer={answer} />}
                        </>
                    )}
                </div>
                {good && <Tiles page={page} answer={answer} act={act} />}
            </div>
            {good && <Split page={page} answer={answer} act={act} asks={asks} />}
            {good && answer.class === 'fits' && page.depth === 'detail' && <LaterChanges page={page} answer={answer} act={act} />}
        </section>
    );
}
