import { expect, test, vi } from 'vitest';
import { format } from '../format/format';
import { answeredOf, catalog } from '../shared/test-data';
import { cellsOf, settle, show, spies, tap, textOf } from '../shared/test-view';
import type { Page } from '../store/page';
import { Card } from './card';
import { Items, Notes } from './items';

function shown(name: string, changes: Partial<Page> = {}) {
    const { page, answer } = answeredOf(name, changes);
    const act = spies();
    return { act, answer, ...show(<Items page={page} answer={answer} act={act} Card={Card} />) };
}

test('every group with its size, the sum, and what lies outside of it', () => {
    const { answer, one } = shown('default');
    const [head, ...rows] = cellsOf(one('table'));
    expect(head).toEqual(['What fills it', 'GiB', 'of the card']);
    const outside = answer.outside.reduce((sum, { bytes }) => sum + bytes, 0);
    const sizes = [...answer.groups.map(({ bytes }) => bytes), answer.total_bytes, outside, answer.whole_bytes];
    expect(rows.map(([, gib]) => gib)).toEqual(sizes.map(format.gib));
    expect(rows.at(-1)?.[0]).toBe('On the card, as nvidia-smi shows it');
});

test('exact bytes are one column more', () => {
    const { act, answer, find, one } = shown('default', { exactBytes: true });
    expect(cellsOf(one('table'))[1]?.[3]).toBe(format.bytes(answer.groups[0]?.bytes ?? 0));
    tap(find('button', 'Exact bytes'));
    expect(act.showBytes).toHaveBeenCalledWith(false);
});

test('a group opens with a tap, and shows its card', () => {
    const { act, find } = shown('default');
    tap(find('button', /^Weights/));
    expect(act.open).toHaveBeenCalledWith({ group: 'weights', item: '' });
    const open = shown('default', { open: { group: 'weights', item: '' } });
    expect(open.find('button', /^Weights/).getAttribute('aria-expanded')).toBe('true');
    expect(open.find('article', 'Weights')).toBeTruthy();
});

test('a stage that is not the fullest has its own title and sum', () => {
    const { answer, one, text } = shown('llama-405b-uneven-offload');
    const rows = cellsOf(one('table'));
    expect(rows[0]?.[0]).toBe(`What fills stage ${answer.stage + 1}`);
    expect(rows.at(-1)?.[1]).toBe(format.gib(answer.stages[answer.stage]?.bytes ?? 0));
    expect(text()).toContain('In host memory');
});

test('the copied table has every item and exact bytes', async () => {
    const copied = vi.spyOn(navigator.clipboard, 'writeText').mockResolvedValue();
    const { answer, find } = shown('default');
    tap(find('button', 'Copy table'));
    await settle();
    const lines = (copied.mock.calls.at(-1)?.[0] ?? '').split('\n');
    expect(lines).toHaveLength(1 + answer.groups.flatMap(({ items }) => items).length + 1 + answer.outside.length + 1);
    expect(lines.at(-1)?.split('\t').at(-1)).toBe(answer.whole_bytes.toFixed(0));
});

test('the notes: what was taken, assumed and not counted; an assumption leads to its field', () => {
    const { answer } = answeredOf();
    const { all, names, one } = show(<Notes answer={answer} fields={catalog.fields} />);
    expect(names('heading')).toEqual(['Taken from your input', 'Assumed', 'Not counted']);
    expect(one('#assumed').querySelectorAll('li')).toHaveLength(answer.assumed.length);
    const field = document.createElement('input');
    field.id = `field-${answer.assumed.find(({ field }) => field !== '')?.field}`;
    document.body.append(field);
    const buttons = all('button', /^Change /);
    expect(new Set(buttons.map((one) => one.getAttribute('aria-label'))).size, 'each has a name of its own').toBe(buttons.length);
    const [change] = buttons;
    tap(change as Element);
    expect(document.activeElement).toBe(field);
    expect(textOf(change as Element)).toBe('change');
    field.remove();
});
