import { expect, test } from 'vitest';
import { cellsOf, show, tap, textOf } from '../shared/test-view';
import { type Column, ProofTable } from './proof-table';

interface Size {
    id: string;
    size: number;
}

const columns: Column<Size>[] = [
    { id: 'name', head: 'Name', cell: ({ id }) => id },
    { id: 'size', head: 'Size', number: true, cell: ({ size }) => String(size) },
];

test('the first column names the row; a phone finds the heads beside the numbers', () => {
    const rows = [
        { id: 'one', size: 1 },
        { id: 'two', size: 2 },
    ];
    const { box, find, one } = show(<ProofTable label="Sizes" columns={columns} rows={rows} />);
    expect([...box.querySelectorAll('th[scope=row]')].map(textOf)).toEqual(['one', 'two']);
    expect(cellsOf(find('table', 'Sizes'))).toEqual([
        ['Name', 'Size'],
        ['one', '1'],
        ['two', '2'],
    ]);
    expect(one('td').dataset.head).toBe('Size');
});

test('the first rows, and all of them when the reader wants them', () => {
    const rows = [1, 2, 3].map((size) => ({ id: `n${size}`, size }));
    const { box, find } = show(<ProofTable label="Sizes" columns={columns} rows={rows} first={2} />);
    expect(box.querySelectorAll('tbody tr')).toHaveLength(2);
    tap(find('button', 'Show all 3'));
    expect(box.querySelectorAll('tbody tr')).toHaveLength(3);
    tap(find('button', 'Show the worst only'));
    expect(box.querySelectorAll('tbody tr')).toHaveLength(2);
});

test('no rows: a sentence instead of an empty table', () => {
    const { all, text } = show(<ProofTable label="Sizes" columns={columns} rows={[]} />);
    expect(all('table')).toEqual([]);
    expect(text()).toBe('No runs for this choice.');
});
