import { useState } from 'preact/hooks';
import type { Catalog, Degree, Side, Versus } from '../core/api';
import { format } from '../format/format';
import { labelOf, lower, messageOf, nameOf, problemText } from '../shared/names';
import { wholePlan } from '../shared/plan-words';
import type { Actions, Page } from '../store/page';
import { listed, say, sentences } from '../words/words';

const KEYS = ['tensor_parallel', 'pipeline_parallel', 'context_parallel', 'micro_batch'] as const;
const MOST = 3; // reasons in a sentence
const SMALL = 0.1; // of the largest difference: not worth a word

// "0.5 s less pipeline bubble, 0.1 s more …" of the other plan.
export function differencesOf(time: NonNullable<Versus['time']>): string {
    const largest = Math.abs(time[0]?.seconds ?? 0);
    const told = time.filter((item) => Math.abs(item.seconds) > SMALL * largest).slice(0, MOST);
    // What is left has its word where it matters: a reader adds them up.
    const rest = time.filter((item) => !told.includes(item)).reduce((sum, { seconds }) => sum + seconds, 0);
    const text = (seconds: number, what: string): string =>
        say(seconds > 0 ? 'best.longer' : 'best.shorter', { time: Math.abs(seconds), what });
    return listed([
        ...told.map((item) => text(item.seconds, lower(nameOf('time', item)))),
        Math.abs(rest) > SMALL * largest && text(rest, say('best.rest')),
    ]);
}

function reply(catalog: Catalog, { outcome, other, seconds = 0, seconds_share = 0, time = [] }: Versus): string {
    if (!other.ok) return sentences(say('why_not.cannot'), other.problems[0] && problemText(other.problems[0]));
    const side: Side = other;
    const plan = wholePlan(catalog, side.job);
    if (outcome === 'does_not_fit') return say('why_not.too_large', { plan, memory: format.gb(side.whole_bytes), card: side.card_bytes });
    const step = side.step_seconds;
    if (outcome === 'as_fast') return say('why_not.as_fast', { plan, step });
    if (outcome === 'faster') return say('why_not.faster', { plan, step });
    const reasons = differencesOf(time);
    const slower = { plan, step, more: seconds, share: seconds_share };
    return reasons ? say('why_not.slower_because', { ...slower, reasons }) : say('why_not.slower', slower);
}

// "Why not TP 8, PP 2?": the best plan with these degrees against the best of all.
export function WhyNot({ page, act }: { page: Page; act: Actions }) {
    const [asked, set] = useState<Partial<Record<Degree, string>>>({});
    const { answer, asked: sent } = page.ranking;
    const given = KEYS.filter((key) => (asked[key] ?? '') !== '');
    const ask = (event: Event) => {
        event.preventDefault();
        act.whyNot(Object.fromEntries(given.map((key) => [key, format.read(asked[key] ?? '', { whole: true })])));
    };
    return (
        <form class="why-not" onSubmit={ask} aria-label={say('why_not.label')}>
            <span>{say('why_not.title')}</span>
            {KEYS.map((key) => (
                <label key={key} title={labelOf(page.catalog.fields, key)}>
                    {say(`degree.short.${key}`)}{' '}
                    <input
                        type="text"
                        inputMode="numeric"
                        size={3}
                        placeholder={say('why_not.any')}
                        aria-label={say('why_not.field', { field: labelOf(page.catalog.fields, key) })}
                        value={asked[key] ?? ''}
                        onInput={(event) => set({ ...asked, [key]: event.currentTarget.value.trim() })}
                    />
                </label>
            ))}
            <button type="submit" disabled={given.length === 0}>
                {say('why_not.ask')}
            </button>
            <p role="status">
                {sent && !answer && say('why_not.thinking')}
                {answer && (answer.ok ? reply(page.catalog, answer) : sentences(...answer.problems.map(messageOf)))}
            </p>
        </form>
    );
}
