import './script.css';
import { useEffect, useState } from 'preact/hooks';
import type { Catalog, ImportedPlan } from '../core/api';
import { CopyButton } from '../shared/copy-button';
import { problemText } from '../shared/names';
import { request } from '../state/state';
import type { Page } from '../store/page';
import { fetchWords, say, tell } from '../words/words';
import { changeText, noneText, planText, saidText, stateText, titleText } from './faster-words';
import { type Asks, type Found, findFaster, NOTHING } from './find-faster';
import type { Script } from './script';
import { jobOfScript } from './script-job';

interface Props {
    page: Page;
    plan: ImportedPlan;
    script: Script;
    times?: number; // bytes that the run needed, by what it printed, for each one that is counted
    asks: Asks;
}

function Changes({ catalog, found }: { catalog: Catalog; found: Found }) {
    const { best, changes, format, left_out, said } = found;
    if (!format) return <p class="note">{say('paste.faster.not_written')}</p>;
    return (
        <>
            {left_out.length > 0 && (
                <>
                    <p>{say('paste.faster.left_out', { label: format.label })}</p>
                    <ul class="lacks">
                        {left_out.map((one) => (
                            <li key={JSON.stringify(one)}>{tell(one)}</li>
                        ))}
                    </ul>
                </>
            )}
            {said && <p>{saidText(catalog, format, said, found.times)}</p>}
            {changes && (
                <>
                    <p>{changeText(format, best)}</p>
                    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls is reached by keyboard */}
                    <pre tabIndex={0}>{changes}</pre>
                    <p class="acts">
                        <CopyButton label={say('paste.faster.copy')} text={() => changes} />
                    </p>
                </>
            )}
        </>
    );
}

// "Your script: 41 s. On the same GPUs: 33 s. Copy the changes."
export function Faster({ page, plan, script, times, asks }: Props) {
    const [found, setFound] = useState<Found | null>(null);
    useEffect(() => {
        let stale = false;
        setFound(null);
        const job = request(jobOfScript(page.job, page.catalog, plan));
        Promise.all([findFaster(job, { ...plan, format: script.format }, page.catalog, asks, times), fetchWords('formats')]).then(
            ([answer]) => !stale && setFound(answer),
            () => !stale && setFound(NOTHING), // the page says so: a crash has its own notice
        );
        return () => {
            stale = true;
        };
    }, [plan, times]);
    if (!found) return <p class="note">{say('paste.faster.coming')}</p>;
    const { own, problems, best, changes } = found;
    if (!own && problems.length === 0) return null;
    return (
        <section class="faster" aria-labelledby="faster-title">
            <h3 id="faster-title">{titleText(found)}</h3>
            {own && <p>{stateText(page.catalog, own, found)}</p>}
            {problems.map((problem) => (
                <p key={problem.field + problem.rule} class="wrong">
                    {problemText(problem)}
                </p>
            ))}
            {(best || !changes) && <p>{best ? planText(page.catalog, best, found.times) : own && noneText(found)}</p>}
            {(best || changes) && own && <Changes catalog={page.catalog} found={found} />}
        </section>
    );
}
