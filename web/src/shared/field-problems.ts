// The problems of the job, by the field that they belong to.
import type { Problem } from '../core/api';
import type { Page } from '../store/page';

// A key of the request and the field on the page that holds it: all keys of a pasted model belong to the model's field.
export const fieldOf = (problem: Problem): string => problem.field.split(/[.[]/)[0] ?? '';

export const problemId = (index: number): string => `problem-${index}`;

// For a field: is it wrong, and which texts of the list say why.
export function problemAttributes(page: Page, key: string): { invalid: boolean; describedBy: string | undefined } {
    const ids = page.problems.flatMap((problem, index) => (fieldOf(problem) === key ? [problemId(index)] : []));
    return { invalid: ids.length > 0, describedBy: ids.join(' ') || undefined };
}

export function focusField(key: string): void {
    const field = document.getElementById(`field-${key}`);
    const details = field?.closest('details');
    if (details) details.open = true;
    field?.scrollIntoView({ block: 'center' });
    field?.focus({ preventScroll: true });
}
