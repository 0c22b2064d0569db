import type { ComponentChildren, FunctionComponent } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Change, Estimate, Fit } from '../core/api';
import { entryAt, type Heat } from '../core/heat';
import { RANKED_KEYS, type RankedKey } from '../core/types';
import { format } from '../format/format';
import { sizes, sizesOf, stepChange, summaryOf, timeOf, verdictOf } from '../shared/answer-words';
import { problemAttributes, problemId } from '../shared/field-problems';
import { Folded } from '../shared/folded';
import { problemText } from '../shared/names';
import { besides, degreeList, leftOutText } from '../shared/plan-words';
import { allAuto, BUDGET, type Job, MAX_PINS, pinOf } from '../state/state';
import { type Actions, type Page, pinLike } from '../store/page';
import { say, sentences, tell } from '../words/words';
import type { BudgetProps } from './budget';
import { Problems } from './problems';

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

function Announcement({ text }: { text: string }) {
    const [said, say] = useState('');
    useEffect(() => {
        const timer = setTimeout(() => say(text), ANNOUNCE_MS);
        return () => clearTimeout(timer);
    }, [text]);
    return (
        <p class="sr" aria-live="polite">
            {said}
        </p>
    );
}

function memoryOf(answer: Estimate): string {
    const { used, card, share } = sizes(answer);
    if (answer.share > 1) return say('answer.needs', { used, card });
    return answer.class === 'does_not_fit' ? say('answer.too_close', { used, card, share }) : say('answer.fullest', { used, card, share });
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

// The whole answer in words: for the ear, and for a message to a colleague.
const spokenOf = (page: Page): string =>
    page.answer && page.problems.length === 0 ? sentences(summaryOf(page), timeOf(page.answer)) : summaryOf(page);

// Whose plan it is: all of it chosen, all of it the reader's, or some of each.
type Whose = 'all' | 'mixed' | 'yours';
function whoseOf({ job, answer, catalog }: Page): Whose {
    // Without experts there is nothing to choose.
    const idle = (key: RankedKey): boolean => key.startsWith('expert_') && job[key] === 'auto' && answer?.job[key] === 1;
    const fields = RANKED_KEYS.filter((key) => !idle(key) && catalog.fields.some((field) => field.key === key && field.auto));
    const chosen = fields.filter((key) => job[key] === 'auto').length;
    return chosen === fields.length ? 'all' : chosen === 0 ? 'yours' : 'mixed';
}

// The core's own words on the verdict; before them, whether another split may help.
function becauseOf(page: Page, answer: Estimate): string {
    if (answer.class !== 'does_not_fit') return tell(answer.verdict);
    const first = whoseOf(page) === 'all' ? say('answer.no_plan', { gpus: Number(answer.job.gpus) }) : say('answer.other_plan');
    return sentences(first, tell(answer.verdict));
}

// Allocated, reserved, whole: three meters show three numbers, and a reader will compare one of them.
function Meters({ answer }: { answer: Estimate }) {
    if (answer.outside.length === 0) return null;
    const [allocated, reserved, whole] = [answer.total_bytes, answer.reserved_bytes, answer.whole_bytes].map((bytes) =>
        format.headline(bytes, answer.card_bytes),
    ) as [string, string, string];
    return (
        <p class="meters">
            {sentences(say('answer.meters', { allocated, reserved, whole }), tell(answer.verdict_basis))}{' '}
            <a href="#evidence">{say('answer.evidence')}</a>
        </p>
    );
}

// The fewest GPUs, among those of the map, from which on some plan fits.
function moreGpus(heat: Heat, now: number): { gpus: number; entry: number } | null {
    for (const { gpus, row } of heat.summary.auto) {
        const entry = entryAt(heat, row, gpus);
        if (gpus > now && entry >= 0 && heat.columns.class[entry] === 0) return { gpus, entry };
    }
    return null;
}

const MOST_CHANGES = 5;

// What a step of another plan takes, beside the plan shown.
const stepBeside = ({ time, equally_good }: Estimate, seconds: number): string =>
    stepChange(seconds, time.step_seconds, equally_good.width);

// What a change does to the memory of the fullest GPU and to the time of a step.
const effectOf = (answer: Estimate, one: Change): string =>
    say('changes.effect', { memory: format.change(-one.saved_bytes), step: stepBeside(answer, one.step_seconds) });

// Single changes that lower the memory, those that make it fit first. What fits already may still want to save.
function Changes({ page, answer, act }: { page: Page; answer: Estimate; act: Actions }) {
    const fits = answer.class === 'fits';
    const { heat, heatOf, heatFilter, alternatives, alternativesStale } = page;
    // The map of the job before says nothing of this one, however short it is still there.
    const more =
        !fits && heat && heatOf === page.job && Object.keys(heatFilter).length === 0 ? moreGpus(heat, Number(answer.job.gpus)) : null;
    // Two ways to more GPUs would be one too many: the map's is known to fit.
    const useful = (alternatives?.changes ?? []).filter((change) => !(more && 'gpus' in change.set));
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
                        ...sizesOf(heat?.columns.total_bytes[more.entry] ?? 0, heat?.columns.share[more.entry] ?? 0, answer),
                        step: stepBeside(answer, heat?.columns.step_seconds[more.entry] ?? 0),
                    }),
                    'fits',
                    say('changes.gpus_touch'),
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

function Share({ page }: { page: Page }) {
    const [state, setState] = useState<'shared' | 'share_failed' | null>(null);
    const share = async () => {
        try {
            await navigator.clipboard.writeText(`${spokenOf(page)}\n${location.href}`);
            setState('shared');
        } catch {
            setState('share_failed'); // the clipboard may be forbidden, in an embedded page for one
        }
        setTimeout(() => setState(null), 2500);
    };
    return (
        <button type="button" class="prime" aria-live="polite" onClick={share}>
            {state ? say(`answer.${state}`) : say('answer.share')}
        </button>
    );
}

// Puts the plan shown aside, or takes it back out; a link leads to where pinned plans stand side by side.
function PinButton({ page, answer, act }: { page: Page; answer: Estimate; act: Actions }) {
    const { pins, catalog } = page;
    const here = pinOf(answer.job, catalog);
    const pinned = pinLike(page, here);
    const full = !pinned && pins.length >= MAX_PINS;
    return (
        <>
            {!full && (
                <button type="button" onClick={() => (pinned ? act.unpin(pinned) : act.pin(answer.job))}>
                    {pinned ? say('pins.unpin') : say('pins.pin')}
                </button>
            )}
            {pins.length > 0 && (
                <a href="#compare">{full ? say('pins.full', { count: pins.length }) : say('pins.compare', { count: pins.length })}</a>
            )}
        </>
    );
}

// Why this plan and no other. What is chosen comes from the search that the list and the map show too.
function Why({ page, answer }: { page: Page; answer: Estimate }) {
    const { count } = answer.equally_good;
    const whose = whoseOf(page);
    const fits = answer.class !== 'does_not_fit';
    const tie = count > 1 ? say('answer.why_tie', { count }) : whose === 'all' && say('answer.why_alone');
    return (
        <>
            {say(`answer.why_${whose}`)} {whose !== 'yours' && (fits ? tie : say('answer.why_nothing'))}{' '}
            {whose !== 'yours' && <a href="#best">{leftOutText(page)}</a>}
        </>
    );
}

function PlanLine({ page, answer, act }: { page: Page; answer: Estimate; act: Actions }) {
    const [explained, explain] = useState(false);
    const more = besides(page.catalog, answer.job);
    return (
        <>
            <div class="plan">
                <span class="chip">{say(`answer.chip.${whoseOf(page)}`)}</span>
                <span>
                    {degreeList(answer.job, answer.data_parallel)} {more && <small>{more}</small>}
                </span>
                <span class="acts">
                    <button type="button" aria-expanded={explained} aria-controls="why" onClick={() => explain(!explained)}>
                        {say('answer.why')}
                    </button>
                    <PinButton page={page} answer={answer} act={act} />
                    <Share page={page} />
                </span>
            </div>
            <p id="why" class="why" hidden={!explained}>
                <Why page={page} answer={answer} />
            </p>
        </>
    );
}

function budgetOf(page: Page): string | false {
    if (BUDGET.some((key) => problemAttributes(page, key).invalid)) return say('adjust.wrong');
    const tokens = Number(page.job.token_budget);
    return tokens > 0 && say('step.budget_of', { tokens: format.short(tokens) });
}

interface AnswerProps {
    page: Page;
    act: Actions;
    Budget: FunctionComponent<BudgetProps>;
    children?: ComponentChildren; // what else is known of how sure the answer is
}

export function Answer({ page, act, Budget, children }: AnswerProps) {
    const { answer, problems } = page;
    const good = problems.length === 0 && answer !== null;
    return (
        <section id="answer" class={page.late ? 'answer late' : 'answer'} aria-label={say('answer.label')} tabIndex={-1}>
            <Headline page={page} />
            {good && <p class="takes">{timeOf(answer)}</p>}
            <Announcement text={page.late ? say('answer.late') : spokenOf(page)} />
            <Problems page={page} act={act} />
            {good && (
                <>
                    <p class="lede">{becauseOf(page, answer)}</p>
                    <Meters answer={answer} />
                    {children}
                    {answer.warnings.map((warning) => (
                        <p key={warning.rule} class="warning">
                            <b>{say('problems.warning')}</b> {problemText(warning)}
                        </p>
                    ))}
                    <PlanLine page={page} answer={answer} act={act} />
                </>
            )}
            <div class="changes">
                <Folded title={say('step.budget')} mark={budgetOf(page)}>
                    <Budget page={page} act={act} />
                </Folded>
            </div>
            {good && <Changes page={page} answer={answer} act={act} />}
        </section>
    );
}
