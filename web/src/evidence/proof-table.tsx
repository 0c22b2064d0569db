import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { say } from '../words/words';

export interface Column<Row> {
    id: string;
    head: string;
    number?: boolean;
    cell(row: Row): ComponentChildren;
}

interface Props<Row extends { id: string }> {
    label: string;
    columns: readonly Column<Row>[];
    rows: readonly Row[];
    first?: number; // rows that are shown until the reader wants all
}

// A table whose first column names the row. On a phone every row is a block, with the heads beside its numbers.
export function ProofTable<Row extends { id: string }>({ label, columns, rows, first = rows.length }: Props<Row>) {
    const [whole, open] = useState(false);
    const [name, ...others] = columns;
    if (!name) return null;
    if (rows.length === 0) return <p class="note">{say('measured.none')}</p>;
    const table = (
        <table class="proof-table" aria-label={label}>
            <thead>
                <tr>
                    {columns.map(({ id, head, number }) => (
                        <th key={id} scope="col" class={number ? 'r' : undefined}>
                            {head}
                        </th>
                    ))}
                </tr>
            </thead>
            <tbody>
                {(whole ? rows : rows.slice(0, first)).map((row) => (
                    <tr key={row.id}>
                        <th scope="row">{name.cell(row)}</th>
                        {others.map(({ id, head, number, cell }) => (
                            <td key={id} class={number ? 'r' : undefined} data-head={head}>
                                <div>{cell(row)}</div>
                            </td>
                        ))}
                    </tr>
                ))}
            </tbody>
        </table>
    );
    return (
        <>
            {table}
            {rows.length > first && (
                <p class="acts">
                    <button type="button" aria-expanded={whole} onClick={() => open(!whole)}>
                        {whole ? say('measured.fewer') : say('measured.whole', { count: rows.length })}
                    </button>
                </p>
            )}
        </>
    );
}
