import { expect, test } from 'vitest';
import { format } from '../format/format';
import { answeredOf } from '../shared/test-data';
import { cellsOf, show, spies, tap } from '../shared/test-view';
import { TwoMethods } from './comparison';

test('both methods side by side, why they differ, and the way to the other one', () => {
    const { answer } = answeredOf();
    const act = spies();
    const { find, one } = show(<TwoMethods answer={answer} act={act} />);
    const cells = cellsOf(one('table'));
    expect(cells[0]).toEqual(['Part', 'Fourfold, every stage, GiB', 'Fujii et al. 2024, GiB']);
    const rows = cells.filter((row) => row.length === 3).slice(1);
    const differ = answer.comparison.rows.map((row) => [format.gib(row.bytes), format.gib(row.other_bytes)]);
    expect(rows.map(([, ...numbers]) => numbers)).toEqual([
        ...differ,
        [format.gib(answer.total_bytes), format.gib(answer.comparison.total_bytes)],
        ['fits', answer.comparison.class === 'at_risk' ? 'at risk' : 'fits'],
    ]);
    expect(cells.filter((row) => row.length === 1).every(([why = '']) => why.length > 20)).toBe(true);
    tap(find('button', 'Count by Fujii et al. 2024'));
    expect(act.change).toHaveBeenCalledWith({ method: 'fujii2024' }, 'choose');
});
