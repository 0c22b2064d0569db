import type { Catalog, PhasedRun, Refusal } from '../core/api';
import { format } from '../format/format';
import { messageOf } from '../shared/names';
import { wholePlan } from '../shared/plan-words';
import { say, sentences } from '../words/words';

const daysOf = (days: number): string => format.training(days, days, days)[0];

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

function Sums({ answer }: { answer: PhasedRun }) {
    const { total, kept, keeps_degrees } = answer;
    const degrees = kept && { tp: kept.tensor_parallel, pp: kept.pipeline_parallel, time: daysOf(Math.max(0, kept.more_days)) };
    return (
        <>
            <p class="takes">{say('phases.sum', { computing: daysOf(total.computing_days), usual: daysOf(total.days) })}</p>
            <p class="note">
                {sentences(
                    say('phases.lost', { changes: daysOf(total.change_days), failures: daysOf(total.failure_days) }),
                    total.cost === null ? '' : say('phases.cost', { cost: format.dollars(total.cost) }),
                    total.energy_kwh === null ? '' : say('phases.energy', { mwh: total.energy_kwh / 1e3 }),
                    degrees ? say('phases.kept', { ...degrees, state: keeps_degrees ? 'on' : 'off' }) : say('phases.none_kept'),
                )}
            </p>
        </>
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
            <Sums answer={answer} />
            <Bar answer={answer} />
            <section class="scroll" aria-label={say('phases.plans')}>
                <table aria-label={say('phases.plans')}>
                    <thead>
                        <tr>
                            {(['phase', 'plan', 'step', 'days', 'usual', 'memory'] as const).map((key) => (
                                <th key={key} scope="col">
                                    {say(`phases.${key}`)}
                                </th>
                            ))}
                        </tr>
                    </thead>
                    <tbody>
                        {answer.phases.map((one, i) => (
                            <tr key={i}>
                                <th scope="row">{i + 1}</th>
                                <td>{wholePlan(catalog, one.plan, one.plan.data_parallel)}</td>
                                <td>{say('phases.step_time', { time: one.step_seconds })}</td>
                                <td>{daysOf(one.run.days)}</td>
                                <td>{daysOf(one.days)}</td>
                                <td>
                                    {say('phases.share', {
                                        share: one.share,
                                        fits: one.class,
                                        decides: i === answer.fullest ? 'yes' : 'no',
                                    })}
                                </td>
                            </tr>
                        ))}
                    </tbody>
                </table>
            </section>
        </>
    );
}
