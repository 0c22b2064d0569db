import { format } from '../format/format';
import { sizes, verdictOf } from '../shared/answer-words';
import type { Page } from '../store/page';
import { say } from '../words/words';

// The answer as one line that stays on top while the reader changes what lies below. The ear has the whole one.
export function Brief({ page: { answer, problems } }: { page: Page }) {
    const [problem] = problems;
    if (problem || !answer) {
        return (
            <p class="brief" aria-hidden="true">
                {problem && <b class="verdict cannot">{verdictOf(problem)}</b>}
            </p>
        );
    }
    const { run, step_seconds: time } = answer.time;
    const parts = [
        say('brief.memory', sizes(answer)),
        say('tiles.a_step', { time }),
        run && format.training(run.days, run.low_days, run.high_days)[0],
    ].filter(Boolean);
    return (
        <p class="brief" aria-hidden="true">
            <b class={`verdict ${answer.class}`}>{say(`answer.${answer.class}`)}</b> {parts.join(' · ')}
        </p>
    );
}
