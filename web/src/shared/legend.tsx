import type { Estimate } from '../core/api';
import { bytes } from '../format/in-words';
import { outsideOf } from './answer-words';
import { Swatch } from './chart';
import { nameOf } from './names';

// The parts of the memory bar by name: a part may be too narrow for its own.
export function Legend({ answer }: { answer: Estimate }) {
    const outside = outsideOf(answer);
    return (
        <ul class="parts-named">
            {[...answer.groups, ...(outside ? [outside] : [])]
                .filter((group) => group.bytes > 0)
                .map((group) => (
                    <li key={group.id}>
                        <Swatch id={group.id} /> {nameOf('group', group)} {bytes(group.bytes)}
                    </li>
                ))}
        </ul>
    );
}
