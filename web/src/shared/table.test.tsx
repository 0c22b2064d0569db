import { expect, test, vi } from 'vitest';
import { Table } from './table';
import { cellsOf, show, tap, unfold } from './test-view';

const ROWS = [
    ['Stage', 'GiB'],
    ['1', '56.2'],
    ['2', '59.4'],
];

test('the numbers are made when they are asked for, with their heads', () => {
    const rows = vi.fn(() => ROWS);
    const { box, find } = show(<Table title="As a table" label="Memory" rows={rows} />);
    expect(rows).not.toHaveBeenCalled();
    const table = unfold(box, 'As a table');
    expect(cellsOf(table)).toEqual(ROWS);
    expect([...table.querySelectorAll('th')].map((one) => one.getAttribute('scope'))).toEqual(['col', 'col', 'row', 'row']);
    expect(find('region', 'Memory, As a table').tabIndex).toBe(0);
});

test('they can be taken along', async () => {
    const copied = vi.spyOn(navigator.clipboard, 'writeText').mockResolvedValue();
    const { box, find } = show(<Table title="As a table" label="Memory" rows={() => ROWS} />);
    unfold(box, 'As a table');
    tap(find('button', 'Copy table'));
    await vi.waitFor(() => expect(copied).toHaveBeenLastCalledWith('Stage\tGiB\n1\t56.2\n2\t59.4'));
});
