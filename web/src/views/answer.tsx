import { useEffect, useState } from 'preact/hooks';
import type { Estimate } from '../api';
import { format } from '../format';
import { entryAt, type Heat } from '../heat';
import { t } from '../i18n';
import { degreeList, labelOf, sizes, summaryOf, verdictOf } from '../sentences';
import { AUTO_DEGREES, DEGREES } from '../state';
import type { Actions, Page } from '../store';
import { Problems, problemId } from './problems';

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
                    {problem.message}
                </span>
            </h1>
        );
    }
    if (!answer) return null;
    const [used, card, percent] = sizes(answer);
    return (
        <h1>
            <span class={`verdict ${answer.class}`}>
                <Sign kind={answer.class} />
                {t.verdict[answer.class]}
            </span>{' '}
            <span class="rest">{answer.class === 'does_not_fit' ? t.answer.needs(used, card) : t.answer.fullest(used, card, percent)}</span>
        </h1>
    );
}

const allAuto = (answer: Estimate): boolean => DEGREES.every((key) => answer.auto.includes(key));

function becauseOf(answer: Estimate): string {
    const line = format.percent(answer.line_share);
    if (answer.class !== 'does_not_fit') return t.answer.because[answer.class](line);
    return allAuto(answer) ? t.answer.because.does_not_fit(format.count(Number(answer.job.gpus))) : t.answer.because.plan_does_not_fit;
}

// The fewest GPUs, among those of the map, from which on some plan fits.
function moreGpus(heat: Heat, now: number): { gpus: number; entry: number } | null {
    for (const { gpus, row } of heat.summary.auto) {
        const entry = entryAt(heat, row, gpus);
        if (gpus > now && entry >= 0 && heat.columns.class[entry] === 0) return { gpus, entry };
    }
    return null;
}

// One-step changes that lower the memory, those that make it fit first.
function Fixes({ page, answer, act }: { page: Page; answer: Estimate; act: Actions }) {
    if (answer.class === 'fits') return null;
    const steps = answer.knobs
        .flatMap((knob) => knob.options.map((option) => ({ ...option, field: knob.field })))
        .filter((option) => option.legal && (option.change_bytes ?? 0) < 0)
        .sort((a, b) => Number(b.class === 'fits') - Number(a.class === 'fits') || (a.change_bytes ?? 0) - (b.change_bytes ?? 0))
        .slice(0, 4);
    const { heat, heatStale, heatFilter } = page;
    const more = heat && !heatStale && Object.keys(heatFilter).length === 0 ? moreGpus(heat, Number(answer.job.gpus)) : null;
    if (steps.length === 0 && !more) return null;
    const card = format.nominal(answer.gpu.memory_gib);
    return (
        <div class="fixes">
            <h2>{t.fixes.title}</h2>
            <ul>
                {more && (
                    <li>
                        <button type="button" onClick={() => act.change({ gpus: more.gpus, ...AUTO_DEGREES }, 'choose')}>
                            {t.answer.moreGpus(format.count(more.gpus), format.gb(heat?.columns.total_bytes[more.entry] ?? 0), card)}
                        </button>
                    </li>
                )}
                {steps.map((step) => (
                    <li key={step.field + step.value}>
                        <button type="button" onClick={() => act.change({ [step.field]: step.value }, 'choose')}>
                            {t.fixes.knob(
                                labelOf(page.catalog.fields, step.field),
                                format.count(step.value),
                                format.change(step.change_bytes ?? 0),
                                t.word[step.class ?? 'does_not_fit'],
                            )}
                        </button>
                    </li>
                ))}
            </ul>
        </div>
    );
}

function Share({ page }: { page: Page }) {
    const [state, setState] = useState<'shared' | 'shareFailed' | null>(null);
    const share = async () => {
        try {
            await navigator.clipboard.writeText(`${summaryOf(page)}\n${location.href}`);
            setState('shared');
        } catch {
            setState('shareFailed'); // the clipboard may be forbidden, in an embedded page for one
        }
        setTimeout(() => setState(null), 2500);
    };
    return (
        <button type="button" class="prime" aria-live="polite" onClick={share}>
            {state ? t.answer[state] : t.answer.share}
        </button>
    );
}

function PlanLine({ page, answer }: { page: Page; answer: Estimate }) {
    const [explained, explain] = useState(false);
    const chosen = DEGREES.filter((key) => page.job[key] === 'auto').length;
    const chip = chosen === DEGREES.length ? t.answer.autoChip : chosen === 0 ? t.answer.yoursChip : t.answer.mixedChip;
    return (
        <>
            <div class="plan">
                <span class="chip">{chip}</span>
                <span>{degreeList(answer.job, answer.data_parallel)}</span>
                <span class="acts">
                    <button type="button" aria-expanded={explained} aria-controls="why" onClick={() => explain(!explained)}>
                        {t.answer.why}
                    </button>
                    <Share page={page} />
                </span>
            </div>
            <p id="why" class="why" hidden={!explained}>
                {t.answer.whyText(format.percent(answer.line_share))}
            </p>
        </>
    );
}

export function Answer({ page, act }: { page: Page; act: Actions }) {
    const { answer, problems } = page;
    const good = problems.length === 0 && answer !== null;
    return (
        <section id="answer" class={page.late ? 'answer late' : 'answer'} aria-label={t.answer.label} tabIndex={-1}>
            <Headline page={page} />
            <Announcement text={page.late ? t.answer.late : summaryOf(page)} />
            <Problems page={page} act={act} />
            {good && (
                <>
                    <p class="lede">{becauseOf(answer)}</p>
                    {answer.warnings.map((warning) => (
                        <p key={warning.rule} class="warning">
                            <b>{t.problems.warning}</b> {warning.message} {warning.suggestion}
                        </p>
                    ))}
                    <PlanLine page={page} answer={answer} />
                    <Fixes page={page} answer={answer} act={act} />
                </>
            )}
        </section>
    );
}
