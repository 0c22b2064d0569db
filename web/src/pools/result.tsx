import type { Catalog, Pooled, Refusal } from '../core/api';
import { labelOf } from '../shared/names';
import { Refused } from '../shared/refused';
import { say } from '../words/words';
import { basisText, layoutOf, shareCells, shareHeads, sumText, wayCells, wayHeads } from './said';

function Table({ label, heads, rows }: { label: string; heads: readonly string[]; rows: readonly (readonly string[])[] }) {
    return (
        <section class="scroll stacked" aria-label={label}>
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
                                <td key={k} data-head={heads[k + 1]}>
                                    {cell}
                                </td>
                            ))}
                        </tr>
                    ))}
                </tbody>
            </table>
        </section>
    );
}

// What the room calls a key of the request.
function fieldName(catalog: Catalog, field: string): string {
    const [, at, key] = /^more_pools\[(\d+)\](?:\.(\w+))?$/.exec(field) ?? [];
    return at ? say(key === 'gpus' ? 'pools.number' : 'pools.card', { pool: Number(at) + 1 }) : labelOf(catalog.fields, field);
}

export function Outcome({ answer, catalog }: { answer: Pooled | Refusal; catalog: Catalog }) {
    if (!answer.ok) return <Refused told={answer} nameOf={(field) => fieldName(catalog, field)} />;
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
            <p class="note">{basisText(answer)}</p>
        </>
    );
}
