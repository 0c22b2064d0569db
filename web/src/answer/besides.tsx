import type { Estimate } from '../core/api';
import { Calibrated } from '../evidence/calibrated';
import { format } from '../format/format';
import { profileOf } from '../shared/answer-words';
import { Legend } from '../shared/legend';
import { choiceLabel, fieldName } from '../shared/names';
import { wholePlan } from '../shared/plan-words';
import { CUSTOM_GPU } from '../state/state';
import type { Page } from '../store/page';
import { say, tell } from '../words/words';
import { unusualOf } from './whose';

// What paper needs besides: the parts of the bar by name, and the plan. Where and when it was said stands at the end (paper.ts).
function OnPaper({ page, answer }: { page: Page; answer: Estimate }) {
    return (
        <div class="on-paper">
            <Legend answer={answer} />
            <p>{wholePlan(page.catalog, answer.job, answer.data_parallel)}</p>
        </div>
    );
}

// "48" of "L40S 48 GB", of which 45 are there.
function Usable({ page, answer: { gpu } }: { page: Page; answer: Estimate }) {
    const named = profileOf(page)?.label.match(/(\d+) GB$/)?.[1];
    if (page.job.gpu === CUSTOM_GPU || !named || Number(named) === gpu.memory_gib) return null;
    return <p class="note">{say('plan.usable', { named, size: format.nominal(gpu.memory_gib) })}</p>;
}

// What else an answer rests on: less memory than the name of the GPU says, unusual formats, the reader's own runs, and room on the host for what is offloaded to it (the headline says
// where there is none).
export function Besides({ page, answer }: { page: Page; answer: Estimate }) {
    const { catalog, job } = page;
    const formats = unusualOf(page).map((field) =>
        say('plan.set', { label: fieldName(field), value: choiceLabel(catalog, field.key, String(job[field.key])) }),
    );
    return (
        <>
            <OnPaper page={page} answer={answer} />
            <Usable page={page} answer={answer} />
            {formats.length > 0 && <p class="note">{formats.join(' · ')}</p>}
            <Calibrated answer={answer} />
            {answer.host && answer.host.class !== 'does_not_fit' && <p class="note">{tell(answer.host.verdict)}</p>}
        </>
    );
}
