import type { WholeEstimate } from '../core/types';
import { format } from '../format/format';
import { Swatch } from '../shared/chart';
import { nameOf } from '../shared/names';
import type { Actions } from '../store/page';
import { say, tell } from '../words/words';

// The same run counted two ways, and why the numbers differ.
export function TwoMethods({ answer, act }: { answer: WholeEstimate; act: Actions }) {
    const { comparison } = answer;
    const method = nameOf('method', { id: answer.job.method });
    const other = nameOf('method', { id: comparison.method });
    return (
        <div class="methods">
            <table>
                <thead>
                    <tr>
                        <th scope="col">{say('methods.item')}</th>
                        <th scope="col" class="r">
                            {say('methods.gib', { method })}
                        </th>
                        <th scope="col" class="r">
                            {say('methods.gib', { method: other })}
                        </th>
                    </tr>
                </thead>
                {comparison.rows.map((row) => (
                    <tbody key={row.id}>
                        <tr>
                            <th scope="row">
                                <Swatch id={row.id} /> {nameOf('group', row)}
                            </th>
                            <td class="r">{format.gib(row.bytes)}</td>
                            <td class="r">{format.gib(row.other_bytes)}</td>
                        </tr>
                        <tr class="because">
                            <td colSpan={3}>{tell({ id: `group.${row.id}.differs` })}</td>
                        </tr>
                    </tbody>
                ))}
                <tbody class="total">
                    <tr>
                        <th scope="row">{say('methods.total')}</th>
                        <td class="r">{format.gib(answer.total_bytes)}</td>
                        <td class="r">{format.gib(comparison.total_bytes)}</td>
                    </tr>
                    <tr>
                        <th scope="row">{say('methods.verdict')}</th>
                        <td class={`r word ${answer.class}`}>{say(`fit.${answer.class}`)}</td>
                        <td class={`r word ${comparison.class}`}>{say(`fit.${comparison.class}`)}</td>
                    </tr>
                </tbody>
            </table>
            <p class="note">{say('methods.same')}</p>
            <p class="acts">
                <button type="button" onClick={() => act.change({ method: comparison.method }, 'choose')}>
                    {say('methods.use', { method: other })}
                </button>
            </p>
        </div>
    );
}
