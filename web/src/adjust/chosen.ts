// What a field says while the search chooses its value.

import type { Field } from '../core/api';
import { format } from '../format/format';
import { t } from '../i18n/index';
import { choiceLabel, layersText } from '../shared/sentences';
import type { Page } from '../store/page';

// "auto", with the value that was chosen while the field is on it.
export function chosenText({ catalog, job, answer }: Page, field: Field): string {
    const value = job[field.key] === 'auto' ? answer?.job[field.key] : undefined;
    if (value === undefined || value === null || value === 'auto') return t.adjust.auto;
    if (typeof value === 'boolean') return t.adjust.chosen(value ? t.adjust.yes : t.adjust.no);
    if (typeof value === 'number') return t.adjust.chosen(format.count(value));
    const named = choiceLabel(catalog, field.key, String(value));
    return t.adjust.chosen(field.type === 'text' && named === value ? layersText(named) : named);
}
