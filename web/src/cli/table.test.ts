import { expect, test } from 'vitest';
import { nearestName } from '../shared/nearest';
import { plain, table, widthOf } from './table';

test('columns are aligned, numbers to the right, and no line ends in a space', () => {
    const rows = [
        ['Id', 'GB', 'Note'],
        ['a100', '80', ''],
        ['gb200', '186', 'new'],
    ];
    expect(table(rows, [1])).toBe('Id      GB  Note\na100    80\ngb200  186  new');
});

test('letters that take two columns count twice', () => {
    expect([widthOf('GPU'), widthOf('メモリ'), widthOf('显存')]).toEqual([3, 6, 4]);
    expect(
        table([
            ['費用', '1'],
            ['a', '2'],
        ]),
    ).toBe('費用  1\na     2');
});

test('spaces that do not break are plain ones in a terminal', () => {
    expect(plain('2\u202fmin\u00a05\u202fs')).toBe('2 min 5 s');
});

test('the name that was meant', () => {
    const names = ['fit', 'best', 'limits', 'export'];
    expect(['fitt', 'fti', 'limit', 'exprot', 'bst', 'train'].map((name) => nearestName(name, names))).toEqual([
        'fit',
        'fit',
        'limits',
        'export',
        'best',
        null,
    ]);
});
