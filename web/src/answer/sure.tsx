import type { ComponentChildren } from 'preact';
import type { Estimate } from '../core/api';
import { format } from '../format/format';
import { timeOf } from '../shared/answer-words';
import { Folded } from '../shared/folded';
import { say, sentences, tell } from '../words/words';

// Allocated, reserved, whole: three meters show three numbers, and a reader will compare one of them.
function Meters({ answer }: { answer: Estimate }) {
    if (answer.outside.length === 0) return null;
    const [allocated, reserved, whole] = [answer.total_bytes, answer.reserved_bytes, answer.whole_bytes].map((bytes) =>
        format.headline(bytes, answer.card_bytes),
    ) as [string, string, string];
    return <p class="meters">{sentences(say('answer.meters', { allocated, reserved, whole }), tell(answer.verdict_basis))}</p>;
}

interface Props {
    answer: Estimate;
    children?: ComponentChildren;
}

function Grounds({ answer, children }: Props) {
    return (
        <>
            <p>{tell(answer.verdict)}</p>
            <Meters answer={answer} />
            <p>
                {timeOf(answer)} {tell(answer.time.basis)}
            </p>
            {children}
            <p>
                <a href="#evidence">{say('answer.evidence')}</a>
            </p>
        </>
    );
}

// What the answer rests on: which meter shows which number, how a step's time spreads, and where the measured runs stand.
export const Sure = ({ answer, children }: Props) => (
    <Folded title={say('sure.title')} late>
        <Grounds answer={answer}>{children}</Grounds>
    </Folded>
);
