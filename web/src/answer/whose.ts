import type { Field } from '../core/api';
import { RANKED_KEYS, type RankedKey } from '../core/types';
import type { Page } from '../store/page';

// Whose plan it is: all of it chosen, all of it the reader's, or some of each.
export type Whose = 'all' | 'mixed' | 'yours';
export function whoseOf({ job, answer, catalog }: Page): Whose {
    // Without experts there is nothing to choose; what is not chosen unless one asks for it is nobody's.
    const idle = (key: RankedKey): boolean => key.startsWith('expert_') && job[key] === 'auto' && answer?.job[key] === 1;
    const counts = (field: Field): boolean => field.auto === true && (field.default === 'auto' || job[field.key] !== field.default);
    const fields = RANKED_KEYS.filter((key) => !idle(key) && catalog.fields.some((field) => field.key === key && counts(field)));
    const chosen = fields.filter((key) => job[key] === 'auto').length;
    return chosen === fields.length ? 'all' : chosen === 0 ? 'yours' : 'mixed';
}

// How numbers are kept and weights are learned, where it is not the usual: the answer is one of that as much as of the plan.
const KEPT = ['precision', 'optimizer', 'frozen_weights'];
export const unusualOf = ({ job, catalog }: Pick<Page, 'job' | 'catalog'>): Field[] =>
    catalog.fields.filter(({ key, default: usual }) => KEPT.includes(key) && job[key] !== usual);
