// The plan as a script: it goes to stdout, and what it cannot say to stderr.
import type { Catalog, ConfigFormatAsked, Estimate, Exported, JobRefusal, MegatronRelease } from '../core/api';
import { planThere, type There } from '../formats/another-plan';
import { differs } from '../formats/as-written';
import { summaryOf } from '../shared/answer-words';
import { wholePlan } from '../shared/plan-words';
import { pinOf } from '../state/state';
import { emptyPage } from '../store/page';
import { say, tell } from '../words/words';
import { type Asked, type Done, FITS, refused } from './asked';
import { asking } from './faster';

// Where the file runs it may need more than the plan.
function otherwise({ there, other }: There, counted: Estimate, { format, framework }: Exported, catalog: Catalog): string[] {
    const label = catalog.config_formats.find(({ id }) => id === format)?.label ?? format;
    const another = other
        ? [say('formats.another', { label, plan: wholePlan(catalog, other.answer.job, other.answer.data_parallel) })]
        : [];
    if (!there.ok) return another;
    const isSame = !differs(there, counted) || (there.class === 'fits' && framework === counted.job.framework);
    if (!other && isSame) return another;
    const { class: fit, whole_bytes: used, card_bytes: card, time } = there;
    return [...another, say('formats.there', { label, fit, used, card, time: time.step_seconds })];
}

export async function exportPlan({ core, catalog, request, own }: Asked): Promise<Done> {
    const { to, release, hosts } = own; // the core says what is wrong with them
    const asked = {
        ...(to !== undefined && { format: to as ConfigFormatAsked }),
        ...(release !== undefined && { release: release as MegatronRelease }),
        ...(hosts !== undefined && { hosts: hosts.split(',') }),
    };
    const estimated = core.estimate(JSON.stringify(request));
    const counted = JSON.parse(estimated) as Estimate | JobRefusal;
    if (!counted.ok) return refused(estimated);
    const text = core.export_plan(JSON.stringify({ ...counted.job, ...asked }));
    const shown = JSON.parse(text) as Exported | JobRefusal;
    if (!shown.ok) return refused(text);
    const found = await planThere(catalog, { open: request, job: counted.job, script: shown, asked }, asking(core));
    const answer = found.other?.script ?? shown;
    const { yours, needs, left_out } = answer;
    const lacks = left_out.length > 0 ? [`${say('formats.left_out')}:`, ...left_out.map((one) => `  ${tell(one)}`)] : [];
    const fill = yours.length > 0 ? [say('formats.yours', { names: yours })] : [];
    const page = { ...emptyPage(catalog, pinOf(counted.job, catalog).job), answer: counted };
    return {
        status: FITS, // whether it fits is what "fit" tells by its status
        answer: found.other ? JSON.stringify(answer) : text,
        text: answer.text,
        notes: [
            ...(counted.class === 'fits' ? [] : [summaryOf(page)]),
            ...otherwise(found, counted, answer, catalog),
            ...fill,
            ...(needs ? [tell(needs)] : []),
            ...lacks,
        ],
    };
}
