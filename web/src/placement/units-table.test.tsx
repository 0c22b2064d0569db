import { expect, test, vi } from 'vitest';
import { measuredOf, refusalOf } from '../shared/test-data';
import { cellsOf, show, tap, textOf, unfold, write } from '../shared/test-view';
import { type RowProblem, shareIn, type UnitRow } from './units';
import { Units } from './units-table';

const ROWS: UnitRow[] = [
    { id: 1, name: 'node-01', speed: '80', memory: '' },
    { id: 2, name: '', speed: '', memory: '' },
];

function shown(rows: UnitRow[], problems = new Map<number, RowProblem[]>()) {
    const set = vi.fn();
    return { set, ...show(<Units rows={rows} set={set} measured={measuredOf()} card={80} problems={problems} wanted={0} />) };
}

test('folded until there is a node that differs; unfolding begins a row', () => {
    const { box, set } = shown([]);
    unfold(box, 'Some nodes are slower or have less memory');
    expect(set).toHaveBeenCalledWith([{ id: 1, name: '', speed: '', memory: '' }]);
});

test('a row for each, whose cells have names of their own', () => {
    const { find, one, set } = shown(ROWS);
    expect(textOf(one('summary'))).toBe('Some nodes are slower or have less memory (1)');
    expect(cellsOf(one('table'))[0]?.slice(0, 3)).toEqual(['Node', 'Speed, %', 'Memory per GPU, GB']);
    write(find('textbox', 'Memory per GPU in GB, row 1'), '40');
    expect(set).toHaveBeenLastCalledWith([{ ...ROWS[0], memory: '40' }, ROWS[1]]);
    tap(find('button', 'Remove node-01'));
    expect(set).toHaveBeenLastCalledWith([ROWS[1]]);
    tap(find('button', 'Add a node'));
    expect(set).toHaveBeenLastCalledWith([...ROWS, { id: 3, name: '', speed: '', memory: '' }]);
});

test('several pasted lines become rows', () => {
    const { find, set } = shown(ROWS);
    const paste = new Event('paste', { bubbles: true, cancelable: true });
    Object.assign(paste, { clipboardData: { getData: () => 'node-02\t90\nnode-03\t\t64' } });
    find('combobox', /row 2$/).dispatchEvent(paste);
    expect(set).toHaveBeenLastCalledWith([
        ROWS[0],
        { id: 2, name: 'node-02', speed: '90', memory: '' },
        { id: 3, name: 'node-03', speed: '', memory: '64' },
    ]);
});

test('what is wrong with a row stands below it, and its cell says so', () => {
    const [problem] = refusalOf('place-bad').problems;
    if (!problem) throw new Error('no problem');
    const { find, one } = shown(ROWS, new Map([[1, [{ cell: 'speed', problem }]]]));
    const speed = find('textbox', 'Speed in %, row 1');
    expect([speed.getAttribute('aria-invalid'), speed.getAttribute('aria-describedby')]).toEqual(['true', 'unit-1-wrong']);
    expect(textOf(one('#unit-1-wrong'))).toMatch(/\(1 stands for 100 %\.\)$/);
});

test('a speed is a share: "50" and "50 %" are the same', () => {
    expect(['50', '100%', ' 7 ', 'half', '%'].map(shareIn)).toEqual([0.5, 1, 0.07, 'half', '']);
});
