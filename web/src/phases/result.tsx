import type { Catalog, PhasedRun, Refusal } from '../core/api';
import { format } from '../format/format';
import { messageOf } from '../shared/names';
import { say } from '../words/words';
import { cellsOf, daysOf, headCells, lossText, sumText } from './said';

// Days of each phase side by side; the same numbers stand in the table.
function Bar({ answer }: { answer: PhasedRun }) {
    const { days } = answer.total;
    const label = answer.phases.map((one, i) => say('phases.bar_part', { phase: i + 1, days: daysOf(one.days) }));
    return (
        <div class="days-bar" role="img" aria-label={format.enumerate(label)}>
            {answer.phases.map((one, i) => (
                <span key={i} class={i === answer.fullest ? 'fullest' : undefined} style={{ flexGrow: one.days / days }}>
                    {i + 1}
                </span>
            ))}
        </div>
    );
}

export function Outcome({ answer, catalog }: { answer: PhasedRun | Refusal; catalog: Catalog }) {
    if (!answer.ok) {
        return (
            <ul class="problems">
                {answer.problems.map((problem) => (
                    <li key={problem.field + problem.rule}>
                        <code>{problem.field}</code> {messageOf(problem)}
                    </li>
                ))}
            </ul>
        );
    }
    return (
        <>
            <p class="takes">{sumText(answer)}</p>
            <p class="note">{lossText(answer)}</p>
            <Bar answer={answer} />
            <section class="scroll" aria-label={say('phases.plans')}>
                <table aria-label={say('phases.plans')}>
                    <thead>
                        <tr>
                            {headCells().map((head) => (
                                <th key={head} scope="col">
                                    {head}
                                </th>
                            ))}
                        </tr>
                    </thead>
                    <tbody>
                        {cellsOf(answer, catalog).map(([phase, ...cells], i) => (
                            <tr key={i}>
                                <th scope="row">{phase}</th>
                                {cells.map((cell, k) => (
                                    <td key={k}>{cell}</td>
                                ))}
                            </tr>
                        ))}
                    </tbody>
                </table>
            </section>
        </>
    );
}
