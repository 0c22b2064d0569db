import { useEffect, useState } from 'preact/hooks';
import type { ConfigFormat, Estimate, ImportedPlan, Problem, RankedPlan } from '../core/api';
import type { Core } from '../core/client';
import { CopyButton } from '../shared/copy-button';
import { problemText } from '../shared/names';
import { wholePlan } from '../shared/plan-words';
import { allAuto, request } from '../state/state';
import type { Page } from '../store/page';
import { planAt, rows, settingsOf } from '../store/ranked';
import { say } from '../words/words';
import { changedLines } from './changed-lines';
import type { Script } from './script';
import { jobOfScript } from './script-job';

export type Asks = Pick<Core, 'estimate' | 'rank' | 'exportPlan'>;

interface Found {
    own: Estimate | null;
    problems: readonly Problem[]; // why the script's own plan cannot be
    best: RankedPlan | null; // the fastest on the same GPUs, where it is clearly faster or the own one does not run
    flags: string; // what to change in the script to get it
}

const WRITTEN: ConfigFormat = 'megatron-lm'; // the format whose arguments can be compared
const NOTHING: Found = { own: null, problems: [], best: null, flags: '' };

// The script's own plan, the fastest on the same GPUs, and the arguments in which they differ.
async function find(page: Page, plan: ImportedPlan, format: string, asks: Asks): Promise<Found> {
    const job = jobOfScript(page.job, page.catalog, plan);
    const [own, ranked] = await Promise.all([
        asks.estimate(request(job)),
        asks.rank({ ...request({ ...job, ...allAuto(page.catalog) }), only: {} }),
    ]);
    const known = own.ok ? own : null;
    const problems = own.ok ? [] : own.problems;
    const first = ranked.ok && rows(ranked) > 0 ? planAt(ranked, 0) : null;
    if (!first || !ranked.ok || first.class !== 'fits') return { ...NOTHING, own: known, problems };
    const runs = known !== null && known.class !== 'does_not_fit';
    if (runs && known.step_seconds <= first.step_seconds * (1 + ranked.tie_width)) return { ...NOTHING, own: known };
    if (format !== WRITTEN) return { own: known, problems, best: first, flags: '' };
    // what the list does not say of a plan is chosen to go with it
    const better = await asks.estimate(request({ ...job, ...allAuto(page.catalog), ...settingsOf(first) }));
    const [from, to] = await Promise.all([known && asks.exportPlan(known.job), better.ok ? asks.exportPlan(better.job) : null]);
    return { own: known, problems, best: first, flags: from?.ok && to?.ok ? changedLines(from.text, to.text) : '' };
}

interface Props {
    page: Page;
    plan: ImportedPlan;
    script: Script;
    asks: Asks;
}

// "Your script: 41 s. On the same GPUs: 33 s. Copy the changed flags."
export function Faster({ page, plan, script, asks }: Props) {
    const [found, setFound] = useState<Found | null>(null);
    useEffect(() => {
        let stale = false;
        setFound(null);
        find(page, plan, script.format, asks).then(
            (answer) => !stale && setFound(answer),
            () => !stale && setFound(NOTHING), // the page says so: a crash has its own notice
        );
        return () => {
            stale = true;
        };
    }, [plan]);
    if (!found) return <p class="note">{say('paste.faster.coming')}</p>;
    const { own, problems, best, flags } = found;
    if (!own && problems.length === 0) return null;
    return (
        <section aria-labelledby="faster-title">
            <h3 id="faster-title">{say('paste.faster.title')}</h3>
            {own && (
                <p>
                    {say('paste.faster.own', {
                        fit: say(`fit.${own.class}`),
                        used: own.whole_bytes,
                        card: own.card_bytes,
                        time: own.step_seconds,
                    })}
                </p>
            )}
            {problems.map((problem) => (
                <p key={problem.field + problem.rule} class="wrong">
                    {problemText(problem)}
                </p>
            ))}
            <p>
                {best
                    ? say('paste.faster.best', { time: best.step_seconds, plan: wholePlan(page.catalog, best), used: best.whole_bytes })
                    : own && say('paste.faster.none')}
            </p>
            {best && flags && (
                <>
                    <p>{say('paste.faster.change')}</p>
                    <pre>{flags}</pre>
                    <p class="acts">
                        <CopyButton label={say('paste.faster.copy')} text={() => flags} />
                    </p>
                </>
            )}
        </section>
    );
}
