import type { Catalog, Ranked } from '../core/api';
import { nameOf } from '../shared/names';
import { say } from '../words/words';

// How many combinations each rule keeps out; '' when none does.
export function rejectedText({ rules }: Catalog, rejected: Ranked['rejected']): string {
    const named = new Map(rules.map((rule) => [rule.id, nameOf('rule', rule)]));
    const reasons = rejected.map(({ rule, count }) => say('best.rejected_by', { count, rule: named.get(rule) ?? rule }));
    return reasons.length > 0 ? say('best.rejected', { reasons }) : '';
}
