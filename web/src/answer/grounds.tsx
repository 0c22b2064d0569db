import type { ComponentChildren } from 'preact';
import type { Estimate } from '../core/api';
import { format } from '../format/format';
import { stepOf } from '../shared/answer-words';
import type { Depth } from '../state/depth';
import { say, sentences, tell } from '../words/words';

interface Props {
    answer: Estimate;
    depth: Depth;
    children?: ComponentChildren;
}

// Allocated, reserved, whole: three meters show three numbers, and a reader will compare one of them.
// In plain depth nobody compares: the headline has said the one that counts.
function Meters({ answer, depth }: Pick<Props, 'answer' | 'depth'>) {
    if (answer.outside.length === 0) return null;
    const basis = tell(answer.verdict_basis);
    if (depth === 'plain') return <p class="meters">{basis}</p>;
    const [allocated, reserved, whole] = [answer.total_bytes, answer.reserved_bytes, answer.whole_bytes].map((bytes) =>
        format.headline(bytes, answer.card_bytes),
    ) as [string, string, string];
    return <p class="meters">{sentences(say('answer.meters', { allocated, reserved, whole }), basis)}</p>;
}

export function Grounds({ answer, depth, children }: Props) {
    return (
        <>
            <p>{tell(answer.verdict)}</p>
            <Meters answer={answer} depth={depth} />
            <p>
                {stepOf(answer)} {tell(answer.time.basis)}
            </p>
            {children}
            <p>
                <a href="#evidence">{say('answer.evidence')}</a>
            </p>
        </>
    );
}
