import { expect, test } from 'vitest';
import { format } from '../format/format';
import { heatOf, pageOf, searchedPage } from '../shared/test-data';
import { choose, show, spies, tap } from '../shared/test-view';
import type { Page } from '../store/page';
import { Plans } from './map';

function shown(changes: Partial<Page> = {}) {
    const act = spies();
    return { act, ...show(<Plans page={searchedPage(changes)} act={act} />) };
}
const { summary } = heatOf();

test('how many plans fit, of how many, and which rules keep out the others', () => {
    const { names, text } = shown();
    expect(names('heading')).toEqual(['All plans, by number of GPUs']);
    expect(text()).toContain(`${format.count(summary.fits)} of ${format.count(summary.legal)} possible plans fit.`);
    const rejected = summary.rejected.reduce((sum, { count }) => sum + count, 0);
    const all = `Of ${format.count(summary.candidates)} combinations, ${format.count(summary.candidates - rejected)} keep all rules. The others: `;
    expect(text()).toContain(all);
    expect(text()).toContain(
        `The map shows the best of each split, ${format.count(summary.legal)} in all: ${format.count(summary.fits)} fit,`,
    );
});

test('the cells show memory or speed', () => {
    const { find, names } = shown();
    expect(names('grid')[0]).toMatch(/^Memory of the fullest GPU/);
    tap(find('button', 'Speed'));
    expect(find('button', 'Speed').getAttribute('aria-pressed')).toBe('true');
    expect(names('grid')[0]).toMatch(/^Tokens per second and GPU/);
});

test('filters are told to the store', () => {
    const { act, find } = shown();
    tap(find('checkbox', 'Only plans that fit somewhere'));
    expect(act.onlyFitting).toHaveBeenCalledWith(false);
    choose(find('combobox', 'Tensor parallel (TP)'), '2');
    expect(act.filter).toHaveBeenCalledWith({ tensor_parallel: 2 }, {});
});

test('before there is a map, and where no plan is possible', () => {
    expect(shown({ heat: null }).text()).toContain('The plans are being computed…');
    expect(shown({ heat: null, problems: pageOf('broken-rules').problems }).text()).toContain('as soon as the run above is clear');
    const none = { ...heatOf(), summary: { ...summary, legal: 0, fits: 0 } };
    const { all, text } = shown({ heat: none });
    expect(text()).toContain('No plan is possible for these numbers of GPUs.');
    expect(all('grid')).toEqual([]);
    expect(shown({ heatStale: true }).text()).toContain('These plans belong to the run before the last change.');
});
