import type { Estimate } from '../core/api';
import { Calibrated } from '../evidence/calibrated';
import { tell } from '../words/words';

// What else an answer rests on: the reader's own runs, and room on the host for what is offloaded to it.
export function Besides({ answer }: { answer: Estimate }) {
    return (
        <>
            <Calibrated answer={answer} />
            {answer.host && <p class="note">{tell(answer.host.verdict)}</p>}
        </>
    );
}
