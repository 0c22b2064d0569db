import { expect, test, vi } from 'vitest';
import { format } from '../format/format';
import { answeredOf, catalog, refusalOf } from '../shared/test-data';
import { cellsOf, plain, settle, show, spies, tap } from '../shared/test-view';
import { pinOf } from '../state/state';
import type { Page } from '../store/page';
import { CompareTable } from './table';

const { page, answer } = answeredOf();
const other = answeredOf('llama-70b-64-h100');
const refused = { ...answer.job, gpus: 12, tensor_parallel: 3 };
const pins = [pinOf(other.answer.job, catalog), pinOf(refused, catalog)];
const pinAnswers = { [pins[0]?.text ?? '']: other.answer, [pins[1]?.text ?? '']: refusalOf('broken-rules') };

function shown(changes: Partial<Page> = {}) {
    const act = spies();
    const now = { ...page, pins, pinAnswers, ...changes };
    return { act, ...show(<CompareTable page={now} act={act} />) };
}

test('the plan shown and the pins, what differs, and what they come to', () => {
    const { one, text } = shown();
    const cells = cellsOf(one('table'));
    expect(cells[0]?.map((head) => head.split(/ tensor/)[0])).toEqual(['', 'The plan shown', '64 GPUs', '12 GPUs']);
    const row = (label: string) => cells.find(([head]) => head?.startsWith(label));
    expect(row('Model')?.slice(1)).toEqual(['Llama 3.1 8B', 'Llama 3.1 70B', 'Llama 3.1 8B']);
    const memory = [answer, other.answer].map(({ whole_bytes }) => plain(`${format.gb(whole_bytes)} GB`));
    const row2 = row('On the fullest GPU') ?? [];
    expect(memory.every((size, i) => row2[i + 1]?.startsWith(size))).toBe(true);
    expect(text()).toContain('The 32 attention heads cannot be shared');
});

test('the parts of the memory are those of the whole, in the rows and in the bar', () => {
    const { all, one } = shown({ pins: [], pinAnswers: {} });
    const rows = cellsOf(one('table')).map(([head, cell]) => [head, Number(cell?.split(' ')[0])] as const);
    const from = rows.findIndex(([head]) => head === 'On the fullest GPU');
    const to = rows.findIndex(([head]) => head === 'Outside the allocator');
    const parts = rows.slice(from + 1, to + 1).reduce((sum, [, size]) => sum + size, 0);
    expect(parts).toBeCloseTo(answer.whole_bytes / 2 ** 30, 0);
    expect(one('svg.bar .f-outside')).not.toBeNull();
    expect(all('table')).toHaveLength(1);
});

test('the head of a plan says how it shares its layers', () => {
    const uneven = { ...answer, job: { ...answer.job, layout: 'Et*8|t*9|t*7|t*8L' } };
    expect(cellsOf(shown({ answer: uneven, pins: [] }).one('table'))[0]?.[1]).toContain('layers 8 | 9 | 7 | 8');
});

test('a pin can be shown and let go; the plan shown can be pinned', () => {
    const { act, find } = shown();
    tap(find('button', 'Show 64 GPUs'));
    expect(act.replaceJob).toHaveBeenCalledWith(pins[0]?.job, 'choose');
    tap(find('button', 'Unpin 64 GPUs'));
    expect(act.unpin).toHaveBeenCalledWith(pins[0]);
    tap(find('button', 'Pin the plan shown'));
    expect(act.pin).toHaveBeenCalledWith(answer.job);
});

test('a pin that is being worked out says so, and one alone has nothing to compare with', () => {
    expect(shown({ pinAnswers: {} }).text()).toContain('One moment…');
    const { text } = shown({ pins: [pinOf(answer.job, catalog)], pinAnswers: {} });
    expect(text()).not.toContain('marks the best value');
});

test('the table can be taken along, as a table and as Markdown', async () => {
    const copied = vi.spyOn(navigator.clipboard, 'writeText').mockResolvedValue();
    const { find } = shown();
    tap(find('button', 'Copy table'));
    tap(find('button', 'Copy as Markdown'));
    await settle();
    const [table = '', markdown = ''] = copied.mock.calls.slice(-2).map(([text]) => text);
    expect(table.split('\n')[0]?.split('\t')).toEqual(['', 'The plan shown', '64 GPUs', '12 GPUs']);
    expect(markdown.split('\n')[1]).toBe('| --- | --- | --- | --- |');
});
