import type { Catalog, PhasedRun, Refusal } from '../core/api';
import { format } from '../format/format';
import { labelOf } from '../shared/names';
import { Refused } from '../shared/refused';
import { say, sentences } from '../words/words';
import { COLUMNS, type Row, TROUBLES } from './link';
import { cellsOf, daysOf, headCells, lossText, roundedText, sumText } from './said';

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

// What the room calls a key of the request.
function fieldName(catalog: Catalog, field: string): string {
    const [, at, key] = /^phases\[(\d+)\]\.(\w+)$/.exec(field) ?? [];
    const column = COLUMNS.find((one) => one === key);
    if (column) return say('phases.cell', { phase: Number(at) + 1, what: say(`phases.${column}`) });
    return field in TROUBLES ? say(`phases.${field as keyof typeof TROUBLES}`) : labelOf(catalog.fields, field);
}

interface Props {
    answer: PhasedRun | Refusal;
    rows: readonly Row[];
    catalog: Catalog;
}

export function Outcome({ answer, rows, catalog }: Props) {
    if (!answer.ok) return <Refused told={answer} nameOf={(field) => fieldName(catalog, field)} />;
    const [phase, ...heads] = headCells();
    return (
        <>
            <p class="takes">{sumText(answer)}</p>
            <p class="note">{sentences(lossText(answer), ...roundedText(answer, rows))}</p>
            <Bar answer={answer} />
            <section class="scroll stacked" aria-label={say('phases.plans')}>
                <table aria-label={say('phases.plans')}>
                    <thead>
                        <tr>
                            {[phase, ...heads].map((head) => (
                                <th key={head} scope="col">
                                    {head}
                                </th>
                            ))}
                        </tr>
                    </thead>
                    <tbody>
                        {cellsOf(answer, catalog).map(([number, ...cells], i) => (
                            <tr key={i}>
                                <th scope="row" data-head={phase}>
                                    {number}
                                </th>
                                {cells.map((cell, k) => (
                                    <td key={k} data-head={heads[k]}>
                                        {cell}
                                    </td>
                                ))}
                            </tr>
                        ))}
                    </tbody>
                </table>
            </section>
        </>
    );
}
