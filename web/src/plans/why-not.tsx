import { useState } from 'preact/hooks';
import type { Degree, Side, Versus } from '../core/api';
import { format } from '../format/format';
import { t } from '../i18n';
import { m } from '../i18n/more';
import { degreeList, labelOf, lower } from '../shared/sentences';
import type { Actions, Page } from '../store/page';

const KEYS = ['tensor_parallel', 'pipeline_parallel', 'context_parallel', 'micro_batch'] as const;
const MOST = 3; // reasons in a sentence
const SMALL = 0.1; // of the largest difference: not worth a word

// "0.5 s less pipeline bubble, 0.1 s more …"; `sign` -1 tells it of the plan instead of the other.
export function differencesOf(time: NonNullable<Versus['time']>, sign: 1 | -1): string {
    const largest = Math.abs(time[0]?.seconds ?? 0);
    return time
        .filter((item) => Math.abs(item.seconds) > SMALL * largest)
        .slice(0, MOST)
        .map((item) => {
            const words = sign * item.seconds > 0 ? m.best.moreOf : m.best.lessOf;
            return words(format.duration(Math.abs(item.seconds)), lower(item.label));
        })
        .join(', ');
}

function reply(versus: Versus, first: string): string {
    const { outcome, other, seconds = 0, seconds_share = 0, time = [] } = versus;
    if (!other.ok) return `${m.best.cannot} ${other.problems[0]?.message ?? ''} ${other.problems[0]?.suggestion ?? ''}`;
    const side: Side = other;
    const plan = degreeList(side.job);
    if (outcome === 'does_not_fit') {
        return m.best.tooLarge(plan, format.gb(side.total_bytes), format.gb(side.card_bytes));
    }
    const step = format.duration(side.step_seconds);
    if (outcome === 'as_fast') return m.best.asFast(plan, step, first);
    if (outcome === 'faster') return m.best.faster(plan, step);
    const reasons = differencesOf(time, 1);
    return m.best.slower(plan, step, format.duration(seconds), format.percent(seconds_share), first) + (reasons ? `: ${reasons}.` : '.');
}

// "Why not TP 8, PP 2?": the best plan with these degrees against the best of all.
export function WhyNot({ page, act }: { page: Page; act: Actions }) {
    const [asked, set] = useState<Partial<Record<Degree, string>>>({});
    const { answer, asked: sent } = page.ranking;
    const given = KEYS.filter((key) => (asked[key] ?? '') !== '');
    const ask = (event: Event) => {
        event.preventDefault();
        act.whyNot(
            Object.fromEntries(given.map((key) => [key, Number.isNaN(Number(asked[key])) ? (asked[key] ?? '') : Number(asked[key])])),
        );
    };
    return (
        <form class="why-not" onSubmit={ask} aria-label={m.best.whyNotLabel}>
            <span>{m.best.whyNot}</span>
            {KEYS.map((key) => (
                <label key={key} title={labelOf(page.catalog.fields, key)}>
                    {t.short[key]}{' '}
                    <input
                        type="text"
                        inputMode="numeric"
                        size={3}
                        placeholder={m.best.any}
                        aria-label={m.best.whyNotOf(labelOf(page.catalog.fields, key))}
                        value={asked[key] ?? ''}
                        onInput={(event) => set({ ...asked, [key]: event.currentTarget.value.trim() })}
                    />
                </label>
            ))}
            <button type="submit" disabled={given.length === 0}>
                {m.best.ask}
            </button>
            <p role="status">
                {sent && !answer && m.best.thinking}
                {answer && (answer.ok ? reply(answer, m.best.theFirst) : answer.problems.map((problem) => problem.message).join(' '))}
            </p>
        </form>
    );
}
