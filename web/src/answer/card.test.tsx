import { render } from 'preact';
import { expect, test, vi } from 'vitest';
import { format } from '../format/format';
import { answeredOf } from '../shared/test-data';
import { cellsOf, press, settle, show, spies, tap } from '../shared/test-view';
import { Card, Explanation } from './card';

const { answer } = answeredOf();
const activations = answer.groups.find(({ id }) => id === 'activations');
const largest = [...(activations?.items ?? [])].sort((a, b) => b.bytes - a.bytes)[0];

function shown(item = '') {
    if (!activations) throw new Error('no activations');
    const act = spies();
    const toAssumptions = vi.fn();
    const open = { group: 'activations', item };
    return { act, toAssumptions, ...show(<Card group={activations} open={open} act={act} toAssumptions={toAssumptions} />) };
}

test('the parts of a group with their sizes, and the formula of the largest', () => {
    const { all, one, text } = shown();
    expect(cellsOf(one('table.parts')).map(([, gib]) => gib)).toEqual(activations?.items.map(({ bytes }) => format.gib(bytes)));
    expect(all('button').filter((button) => button.getAttribute('aria-pressed') === 'true')).toHaveLength(1);
    expect(text()).toContain(`${format.bytes(largest?.bytes ?? 0)} bytes = ${format.gib(largest?.bytes ?? 0)} GiB`);
    expect(text()).toContain(largest?.source?.title);
});

test('another part is a tap away, and closing and the assumptions too', () => {
    const { act, find, names, toAssumptions } = shown();
    const [other] = names('button').filter((name) => name.endsWith(': show the formula'));
    tap(find('button', other));
    expect(act.open).toHaveBeenCalledWith({ group: 'activations', item: activations?.items[0]?.id });
    tap(find('button', 'Close'));
    expect(act.open).toHaveBeenLastCalledWith(null);
    tap(find('button', 'Change an assumption'));
    expect(toAssumptions).toHaveBeenCalledTimes(1);
});

test('Escape closes it, wherever the focus is, but in a field or a dialog', () => {
    const { act, box } = shown();
    const field = document.createElement('input');
    document.body.append(field);
    press(field, 'Escape');
    field.remove();
    expect(act.open).not.toHaveBeenCalled();
    press(box, 'a');
    expect(act.open).not.toHaveBeenCalled();
    press(document.body, 'Escape');
    expect(act.open.mock.calls).toEqual([[null]]);
});

test('a key that follows at once is heard, before anything is drawn', () => {
    if (!activations) throw new Error('no activations');
    const act = spies();
    const place = document.createElement('div');
    document.body.append(place);
    render(<Card group={activations} open={{ group: 'activations', item: '' }} act={act} toAssumptions={() => {}} />, place);
    document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
    expect(act.open.mock.calls).toEqual([[null]]);
    render(null, place);
    place.remove();
});

test('closed, it gives the focus back to what opened it: a part of the bar, a row of the table', () => {
    if (!activations) throw new Error('no activations');
    const card = <Card group={activations} open={{ group: 'activations', item: '' }} act={spies()} toAssumptions={() => {}} />;
    const bar = show(
        <>
            <header>
                <button type="button">Plain</button>
            </header>
            <main class="detail">
                <svg class="bar" aria-label="Bar">
                    {/* biome-ignore lint/a11y/useSemanticElements: as in the bar */}
                    <g role="button" tabindex={0} class="part activations" aria-label="Part" />
                </svg>
                {card}
            </main>
        </>,
    );
    tap(bar.find('button', 'Close'));
    expect(document.activeElement).toBe(bar.find('button', 'Part'));
    const first = bar.all('button').find((button) => button.getAttribute('aria-pressed') === 'true');
    first?.focus();
    press(first ?? bar.box, 'Escape');
    expect(document.activeElement).toBe(bar.find('button', 'Part'));
    const table = show(
        <table>
            <tbody>
                <tr>
                    <th>
                        <button type="button">Row</button>
                    </th>
                </tr>
                <tr class="detail">
                    <td>{card}</td>
                </tr>
            </tbody>
        </table>,
    );
    tap(table.find('button', 'Close'));
    expect(document.activeElement).toBe(table.find('button', 'Row'));
});

test('the formula can be copied as text and as LaTeX', async () => {
    const copied = vi.spyOn(navigator.clipboard, 'writeText').mockResolvedValue();
    const { find } = shown(activations?.items[0]?.id);
    tap(find('button', 'Copy as LaTeX'));
    tap(find('button', 'Copy as text'));
    await settle();
    const [latex = '', text = ''] = copied.mock.calls.map(([one]) => one);
    expect(latex).toContain(`${activations?.items[0]?.bytes}\\ \\text{bytes}`);
    expect(text.split('\n').at(-1)).toContain(activations?.items[0]?.source?.url);
});

test('what is explained has its sentence, its formula and the buttons that are handed in', () => {
    const [item] = activations?.items ?? [];
    if (!item) throw new Error('no item');
    const explain = vi.fn();
    const { text, names } = show(
        <Explanation item={item} explain={explain} title="T" summary="S" result="R" latexResult="L" write={format.number}>
            <button type="button">B</button>
        </Explanation>,
    );
    expect(text()).toMatch(/^S In symbols .* Result R /);
    expect(names('button')).toContain('B');
    expect(explain).not.toHaveBeenCalled();
});

test('an item that came without its formula asks for it, and copies nothing meanwhile', () => {
    const explain = vi.fn();
    const { text, names } = show(
        <Explanation item={{}} explain={explain} title="T" summary="S" result="R" latexResult="L" write={format.number}>
            <button type="button">B</button>
        </Explanation>,
    );
    expect(explain).toHaveBeenCalledTimes(1);
    expect(text()).toMatch(/^S /);
    expect(names('button')).toEqual(['B']);
});
