import type { ComponentChildren } from 'preact';
import type { Estimate } from '../core/api';
import { format } from '../format/format';
import { stepOf } from '../shared/answer-words';
import { say, sentences, tell } from '../words/words';

interface Props {
    answer: Estimate;
    children?: ComponentChildren;
}

// Allocated, reserved, whole: three meters show three numbers, and a reader will compare one of them.
function Meters({ answer }: { answer: Estimate }) {
    if (answer.outside.length === 0) return null;
    const [allocated, reserved, whole] = [answer.total_bytes, answer.reserved_bytes, answer.whole_bytes].map((bytes) =>
        format.headline(bytes, answer.card_bytes),
    ) as [string, string, string];
    return <p class="meters">{sentences(say('answer.meters', { allocated, reserved, whole }), tell(answer.verdict_basis))}</p>;
}

export function Grounds({ answer, children }: Props) {
    return (
        <>
            <p>{tell(answer.verdict)}</p>
            <Meters answer={answer} />
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
