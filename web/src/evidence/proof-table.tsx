import type { ComponentChildren } from 'preact';
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
}

// A table whose first column names the row. On a phone every row is a block, with the heads beside its numbers.
export function ProofTable<Row extends { id: string }>({ label, columns, rows }: Props<Row>) {
    const [first, ...others] = columns;
    if (!first) return null;
    if (rows.length === 0) return <p class="note">{say('measured.none')}</p>;
    return (
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
                {rows.map((row) => (
                    <tr key={row.id}>
                        <th scope="row">{first.cell(row)}</th>
                        {others.map(({ id, head, number, cell }) => (
                            <td key={id} class={number ? 'r' : undefined} data-head={head}>
                                {cell(row)}
                            </td>
                        ))}
                    </tr>
                ))}
            </tbody>
        </table>
    );
}
