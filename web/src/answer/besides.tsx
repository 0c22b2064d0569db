import type { Estimate } from '../core/api';
import { Calibrated } from '../evidence/calibrated';
import { choiceLabel, fieldName } from '../shared/names';
import type { Page } from '../store/page';
import { say, tell } from '../words/words';
import { unusualOf } from './whose';

// What else an answer rests on: unusual formats, the reader's own runs, and room on the host for what is offloaded to it (the headline says
// where there is none).
export function Besides({ page, answer }: { page: Page; answer: Estimate }) {
    const { catalog, job } = page;
    const formats = unusualOf(page).map((field) =>
        say('plan.set', { label: fieldName(field), value: choiceLabel(catalog, field.key, String(job[field.key])) }),
    );
    return (
        <>
            {formats.length > 0 && <p class="note">{formats.join(' · ')}</p>}
            <Calibrated answer={answer} />
            {answer.host && answer.host.class !== 'does_not_fit' && <p class="note">{tell(answer.host.verdict)}</p>}
        </>
    );
}
