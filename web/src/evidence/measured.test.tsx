import { expect, test } from 'vitest';
import { format } from '../format/format';
import { percentTenth } from '../format/tenths';
import { cellsOf, choose, plain, show, tap } from '../shared/test-view';
import { isSaid } from '../words/words';
import { Measured } from './measured';
import { type EvidenceTable, fitRows, summaryOf, table, timeRows } from './table';

const [TIME, FIT] = ['How long a step takes', 'Whether a run fits'];

// With the rows that stand there only when they are asked for.
function shown(all: EvidenceTable) {
    const view = show(<Measured table={all} />);
    for (const button of view.all('button', /^Show all/)) tap(button);
    return view;
}

test('every number of the file is shown, the worst family first', () => {
    const { find } = shown(table);
    const [, ...rows] = cellsOf(find('table', TIME));
    const percent = (value: number | null): string => (value === null ? '–' : plain(percentTenth(value)));
    expect(rows.map((cells) => cells.slice(2, 8))).toEqual(
        timeRows(table).map((row) => [
            format.count(row.rows),
            percent(row.mean),
            percent(row.median),
            plain(format.percent(row.inside)),
            percent(row.regret),
            percent(row.ruleRegret),
        ]),
    );
    expect(rows).toHaveLength(Object.keys(table.time).length);
    const [, ...fits] = cellsOf(find('table', FIT));
    const pair = (one: [number, number] | null): string => (one ? `${format.count(one[0])} of ${format.count(one[1])}` : '–');
    expect(fits.map((cells) => cells.slice(3, 6))).toEqual(
        fitRows(table).map(({ fits, doesNotFit, area }) => [pair(fits), pair(doesNotFit), percent(area)]),
    );
});

test('each source is a link, each family has a name and a standing in words', () => {
    const { all, text } = shown(table);
    const links = new Set(all('link').map((one) => one.getAttribute('href')));
    for (const { from } of timeRows(table)) expect(links).toContain(from?.url);
    expect(Object.keys(table.time).filter((id) => !isSaid(`measured.family.${id}`))).toEqual([]);
    expect(text()).toMatch(/ fitted /);
});

test('the sentence at the top has the numbers of the table', () => {
    const { one } = show(<Measured table={table} />);
    const { runs, families, middle, known, fits, fitsRan } = summaryOf(table);
    const said = plain(one('.takeaway').textContent ?? '');
    expect(said).toContain(`The step time of ${format.count(runs)} runs is known, in ${families} families: `);
    expect(said).toContain(`off by ${plain(format.percent(middle))} on average`);
    expect(said).toContain(`Of ${format.count(known)} runs it is known whether they fitted`);
    expect(said).toContain(`Of ${format.count(fits)} that the estimate says fit, ${format.count(fitsRan)} ran.`);
});

test('by software and by standing', () => {
    const { all, find, text } = show(<Measured table={table} />);
    choose(find('combobox', 'Software'), 'FSDP');
    const names = cellsOf(find('table', TIME)).slice(1);
    expect(names).toHaveLength(timeRows(table).filter(({ from }) => from?.stack === 'FSDP').length);
    expect(names.every((cells) => cells[1] === 'FSDP')).toBe(true);
    choose(find('combobox', 'Software'), '');
    for (const button of all('button', /^Show all/)) tap(button);
    choose(find('combobox', 'Standing'), 'fit');
    expect(cellsOf(find('table', TIME)).slice(1)).toHaveLength(timeRows(table).filter(({ from }) => from?.standing === 'fit').length);
    choose(find('combobox', 'Standing'), 'seen');
    expect(cellsOf(find('table', TIME)).slice(1)).toHaveLength(timeRows(table).filter(({ from }) => from?.standing === 'seen').length);
    choose(find('combobox', 'Standing'), 'blind'); // none of this software
    choose(find('combobox', 'Software'), 'FSDP2');
    expect(all('table')).toEqual([]);
    expect(text()).toContain('No runs for this choice.');
});

test('a part on memory, and families without words', () => {
    const memory = { 'ci-dense': { rows: 200, mean: 0.004, most: 0.07 }, bloom: { rows: 3, mean: 0.2, most: 0.3 } };
    const { find } = shown({ ...table, memory });
    const [, first, second] = cellsOf(find('table', 'How much memory it takes'));
    expect([first?.[0], first?.[3]]).toEqual(['BLOOM and its trials, A100', plain(percentTenth(0.2))]);
    expect(second).toEqual(['ci-dense', '–', '200', plain(percentTenth(0.004)), plain(percentTenth(0.07)), '–']);
});
