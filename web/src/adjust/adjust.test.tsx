import { expect, test } from 'vitest';
import { format } from '../format/format';
import { goodOf, pageOf, rankedPage } from '../shared/test-data';
import { plain, press, show, spies, tap, textOf, write } from '../shared/test-view';
import type { Page } from '../store/page';
import { Adjust } from './adjust';
import { Layout } from './layout';

const alternatives = goodOf('alternatives', 'alternatives-70b');
const page = pageOf('llama-70b-64-h100', { alternatives });

function shown(changes: Partial<Page> = {}, of = page) {
    const act = spies();
    const now = { ...of, ...changes };
    return { act, page: now, ...show(<Adjust page={now} answer={now.answer} act={act} Layout={Layout} />) };
}
const labelOf = (one: Element): string => plain(one.getAttribute('aria-label') ?? '');
const knobOf = (field: string) => alternatives.knobs.find((knob) => knob.field === field);

test('each degree with its neighbours: what they would do to memory and time', () => {
    const { all, find, names } = shown();
    expect(names('group').slice(0, 4)).toEqual(['Tensor parallel (TP)', 'Pipeline parallel (PP)', 'Context parallel (CP)', 'Micro-batch']);
    const knob = knobOf('tensor_parallel');
    const options = all('button').filter((one) => labelOf(one).startsWith('Tensor parallel (TP) '));
    expect(options.map((one) => one.querySelector('b')?.textContent)).toEqual(knob?.options.map(({ value }) => format.count(value)));
    const other = knob?.options.find((option) => option.legal && option.value !== 8);
    if (!other?.legal) throw new Error('no neighbour');
    expect(labelOf(find('button', new RegExp(`^Tensor parallel \\(TP\\) ${other.value}:`)))).toContain(
        plain(`${format.change(other.change_bytes)} GB`),
    );
});
test('a tap takes a neighbour; one that is not possible says why instead', () => {
    const { act, all, find } = shown();
    const other = knobOf('tensor_parallel')?.options.find((option) => option.legal && option.value !== 8);
    tap(find('button', new RegExp(`^Tensor parallel \\(TP\\) ${other?.value}:`)));
    expect(act.change).toHaveBeenCalledWith({ tensor_parallel: other?.value }, 'choose');
    const [illegal] = all('button').filter((one) => one.getAttribute('aria-disabled') === 'true');
    if (!illegal) throw new Error('every neighbour is possible');
    tap(illegal);
    expect(act.change).toHaveBeenCalledTimes(1);
    const reason = all('status')
        .map(textOf)
        .find((text) => text !== '');
    expect(illegal.getAttribute('aria-label')).toContain(reason);
});

test('a value of one’s own, and back to auto', () => {
    const { act, find } = shown();
    write(find('textbox', /^Tensor parallel \(TP\): a value/), '16');
    press(find('textbox', /^Micro-batch: a value/), 'ArrowUp');
    tap(find('button', 'Tensor parallel (TP): reset to auto'));
    expect(act.change.mock.calls).toEqual([
        [{ tensor_parallel: 16 }, 'type'],
        [{ micro_batch: 2 }, 'type'],
        [{ tensor_parallel: 'auto' }, 'choose'],
    ]);
});

test('data parallel follows from the others', () => {
    const { text } = shown();
    expect(text()).toContain(`64 / (8 × ${page.answer?.job.context_parallel} × 4) = ${page.answer?.data_parallel}`);
});

test('the plan that the search would choose is a tap away', () => {
    const { act, find } = shown();
    const name = plain(`Suggested: everything on “auto” (${format.gb(alternatives.auto_plan?.whole_bytes ?? 0)} GB`);
    tap(find('button', new RegExp(`^${name.replace(/[()]/g, '\\$&')}`)));
    const [changed] = act.change.mock.calls[0] ?? [];
    expect(changed).toEqual(alternatives.auto_plan?.set);
    const { ranking } = rankedPage();
    expect(
        shown({ ranking })
            .names('button')
            .some((one) => one.startsWith('Suggested: ')),
    ).toBe(true);
});

test('neighbours of the plan before the last change say so', () => {
    expect(shown({ alternativesStale: true }).text()).toContain('From the plan before the last change');
    expect(shown({ answer: null, alternatives: null }).text()).not.toContain('Suggested');
});
