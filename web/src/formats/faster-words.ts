// What is said of a run and a faster one, on the page and by the command line.
import type { Catalog, ConfigFormatRow, Estimate, RankedPlan } from '../core/api';
import { wholePlan } from '../shared/plan-words';
import { say, tell } from '../words/words';
import type { Found } from './find-faster';

export function stateText(catalog: Catalog, own: Estimate, { times, chose }: Found): string {
    const { class: fit, whole_bytes: used, card_bytes: card, step_seconds: time } = own;
    if (times > 1) return say('paste.faster.died', { share: times - 1, time });
    if (!chose) return say('paste.faster.own', { fit, used, card, time });
    return say('paste.faster.chose', { what: chose, plan: wholePlan(catalog, own.job, own.data_parallel), fit, used, card, time });
}

export const titleText = ({ own }: Found): string => say(own ? 'paste.faster.title' : 'paste.faster.cannot');

export const planText = (catalog: Catalog, best: RankedPlan, times: number): string =>
    say('paste.faster.best', { time: best.step_seconds, plan: wholePlan(catalog, best), used: best.whole_bytes * times });

export const saidText = (catalog: Catalog, { label }: ConfigFormatRow, said: RankedPlan, times: number): string =>
    say('paste.faster.said', { label, time: said.step_seconds, plan: wholePlan(catalog, said), used: said.whole_bytes * times });

export const changeText = ({ label }: ConfigFormatRow, best: RankedPlan | null): string =>
    say(best ? 'paste.faster.change' : 'paste.faster.state', { label });

export const noneText = ({ own, times }: Found): string =>
    say(own?.class === 'fits' && times === 1 ? 'paste.faster.none' : 'paste.faster.none_fits');

// As plain text; nothing where there is nothing to say.
export function fasterText(found: Found, catalog: Catalog): string {
    const { own, best, format, changes, left_out, said, times } = found;
    if (!own && !best) return '';
    const lines = [titleText(found), '', ...(own ? [stateText(catalog, own, found)] : [])];
    if (best || !changes) lines.push(best ? planText(catalog, best, times) : noneText(found));
    if ((best || changes) && own) {
        if (format === null) lines.push(say('paste.faster.not_written'));
        if (format && left_out.length > 0)
            lines.push('', say('paste.faster.left_out', { label: format.label }), ...left_out.map((one) => `  ${tell(one)}`));
        if (format && said) lines.push('', saidText(catalog, format, said, times));
        if (format && changes) lines.push('', changeText(format, best), changes);
    }
    return lines.join('\n');
}
