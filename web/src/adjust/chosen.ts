// What a field says while the search chooses its value.
import type { Field } from '../core/api';
import { format } from '../format/format';
import { choiceLabel } from '../shared/names';
import { layersText } from '../shared/plan-words';
import type { Page } from '../store/page';
import { say } from '../words/words';

// "auto", with the value that was chosen while the field is on it.
export function chosenText({ catalog, job, answer }: Page, field: Field): string {
    const value = job[field.key] === 'auto' ? answer?.job[field.key] : undefined;
    if (value === undefined || value === null || value === 'auto') return say('adjust.auto');
    if (typeof value === 'boolean') return say('adjust.chosen', { value: value ? say('adjust.yes') : say('adjust.no') });
    if (typeof value === 'number') return say('adjust.chosen', { value: format.count(value) });
    const named = choiceLabel(catalog, field.key, String(value));
    return say('adjust.chosen', { value: field.type === 'text' && named === value ? layersText(named) : named });
}
