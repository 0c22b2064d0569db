import type { Catalog, Pooled, Refusal } from '../core/api';
import { messageOf } from '../shared/names';
import { say } from '../words/words';
import { layoutOf, shareCells, shareHeads, sumText, wayCells, wayHeads } from './said';

function Table({ label, heads, rows }: { label: string; heads: readonly string[]; rows: readonly (readonly string[])[] }) {
    return (
        <section class="scroll" aria-label={label}>
            <table aria-label={label}>
                <thead>
                    <tr>
                        {heads.map((head) => (
                            <th key={head} scope="col">
                                {head}
                            </th>
                        ))}
                    </tr>
                </thead>
                <tbody>
                    {rows.map(([first, ...cells], i) => (
                        <tr key={i}>
                            <th scope="row">{first}</th>
                            {cells.map((cell, k) => (
                                <td key={k}>{cell}</td>
                            ))}
                        </tr>
                    ))}
                </tbody>
            </table>
        </section>
    );
}

export function Outcome({ answer, catalog }: { answer: Pooled | Refusal; catalog: Catalog }) {
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
    const layout = layoutOf(answer);
    const mixed = answer.ways[0] !== undefined && answer.ways[0].way !== 'alone';
    return (
        <>
            <p class="takes">{sumText(answer)}</p>
            {mixed && <Table label={say('pools.who_does_what')} heads={shareHeads()} rows={shareCells(answer)} />}
            {layout !== null && (
                <p class="note">
                    {say('pools.layout')} <code>{layout}</code>
                </p>
            )}
            {answer.ways.length > 0 && <Table label={say('pools.ways')} heads={wayHeads()} rows={wayCells(answer, catalog)} />}
            <p class="note">{say('pools.basis')}</p>
        </>
    );
}
