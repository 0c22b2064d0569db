// The memory of the stage shown as parts of a bar, in shares of its whole length, which ends at the card or a little beyond the estimate.
import type { Estimate } from '../core/api';
import type { ShownGroup } from '../core/types';
import { lineOf, outsideOf } from '../shared/answer-words';

const BEYOND = 1.04;

export interface BarPart {
    group: ShownGroup;
    from: number;
    width: number;
}
export interface MemoryBar {
    parts: BarPart[];
    card: number; // where the card ends
    line: number; // up to where it fits
}

export function memoryBar(answer: Estimate): MemoryBar {
    const outside = outsideOf(answer);
    const groups: ShownGroup[] = [...answer.groups, ...(outside ? [outside] : [])].filter(({ bytes }) => bytes > 0);
    const whole = groups.reduce((sum, { share }) => sum + share, 0);
    const end = whole > 1 ? whole * BEYOND : 1;
    let from = 0;
    const parts = groups.map((group) => {
        const part = { group, from: from / end, width: group.share / end };
        from += group.share;
        return part;
    });
    return { parts, card: 1 / end, line: lineOf(answer) / end };
}
