import type { Estimate } from '../core/api';
import { format } from '../format/format';
import { t } from '../i18n';
import { m } from '../i18n/more';
import { Swatch } from '../shared/chart';
import type { Actions } from '../store/page';

// The same run counted two ways, and why the numbers differ.
export function TwoMethods({ answer, act }: { answer: Estimate; act: Actions }) {
    const { comparison, method } = answer;
    return (
        <div class="methods">
            <table>
                <thead>
                    <tr>
                        <th scope="col">{m.methods.item}</th>
                        <th scope="col" class="r">
                            {m.methods.gib(method.label)}
                        </th>
                        <th scope="col" class="r">
                            {m.methods.gib(comparison.label)}
                        </th>
                    </tr>
                </thead>
                {comparison.rows.map((row) => (
                    <tbody key={row.id}>
                        <tr>
                            <th scope="row">
                                <Swatch id={row.id} /> {row.label}
                            </th>
                            <td class="r">{format.gib(row.bytes)}</td>
                            <td class="r">{format.gib(row.other_bytes)}</td>
                        </tr>
                        <tr class="because">
                            <td colSpan={3}>{row.why}</td>
                        </tr>
                    </tbody>
                ))}
                <tbody class="total">
                    <tr>
                        <th scope="row">{m.methods.total}</th>
                        <td class="r">{format.gib(answer.total_bytes)}</td>
                        <td class="r">{format.gib(comparison.total_bytes)}</td>
                    </tr>
                    <tr>
                        <th scope="row">{m.methods.verdict}</th>
                        <td class={`r word ${answer.class}`}>{t.word[answer.class]}</td>
                        <td class={`r word ${comparison.class}`}>{t.word[comparison.class]}</td>
                    </tr>
                </tbody>
            </table>
            <p class="note">{m.methods.same}</p>
            <p class="acts">
                <button type="button" onClick={() => act.change({ method: comparison.method }, 'choose')}>
                    {m.methods.use(comparison.label)}
                </button>
            </p>
        </div>
    );
}
