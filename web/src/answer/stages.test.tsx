import { expect, test } from 'vitest';
import { format } from '../format/format';
import { answeredOf } from '../shared/test-data';
import { cellsOf, focus, plain, press, show, spies, tap, textOf, unfold } from '../shared/test-view';
import { Stages } from './stages';

function shown(name: string) {
    const { answer } = answeredOf(name);
    const act = spies();
    return { act, answer, ...show(<Stages answer={answer} act={act} />) };
}

test('every stage has a line with its layers and size; the fullest is marked', () => {
    const { all, answer, names, text } = shown('llama-70b-64-h100');
    expect(names('heading')).toEqual(['Memory per stage']);
    const lines = all('button').slice(0, answer.stages.length).map(textOf);
    answer.stages.forEach((stage, i) => {
        expect(lines[i]).toContain(`Stage ${i + 1} ${stage.layers} layers`);
        expect(lines[i]).toContain(plain(`${format.gb(stage.bytes)} GB, ${format.percent(stage.share)} of the card`));
    });
    expect(lines.findIndex((line) => line.includes('fullest'))).toBe(answer.worst_stage);
    expect(text()).toContain(`What PyTorch allocates on the fullest GPU of each of the ${answer.stages.length} pipeline stages`);
});

test('in the table, micro-batches in flight are told to a tenth', () => {
    const { answer } = answeredOf('llama-70b-64-h100');
    const stages = answer.stages.map((stage) => ({ ...stage, in_flight: 97 / 7 }));
    const { box } = show(<Stages answer={{ ...answer, stages }} act={spies()} />);
    const [, first] = cellsOf(unfold(box, 'As a table'));
    expect(first?.[2]).toBe('13.9');
});

test('a tap shows a stage; the fullest is the usual one', () => {
    const { act, all, answer } = shown('llama-70b-64-h100');
    const other = answer.worst_stage === 0 ? 1 : 0;
    tap(all('button')[other] as Element);
    tap(all('button')[answer.worst_stage] as Element);
    expect(act.showStage.mock.calls).toEqual([[other], [null]]);
});

test('arrow keys go from stage to stage, of which one takes the focus', () => {
    const { all, answer, one } = shown('llama-405b-512-h100');
    const lines = all('button').slice(0, answer.stages.length);
    expect(lines.filter((line) => line.getAttribute('tabindex') === '0')).toEqual([lines[answer.stage]]);
    focus(lines[0] as Element);
    press(one('ul'), 'ArrowDown');
    expect(document.activeElement).toBe(lines[1]);
    press(one('ul'), 'End');
    expect(document.activeElement).toBe(lines.at(-1));
    press(one('ul'), 'PageUp');
    expect(document.activeElement).toBe(lines.at(-11));
});

test('a stage that is not the fullest leads back to it', () => {
    const { act, answer, find, text } = shown('llama-405b-uneven-offload');
    expect(text()).toContain(`show stage ${answer.stage + 1} of ${answer.stages.length}, not the fullest`);
    tap(find('button', 'Back to the fullest stage'));
    expect(act.showStage).toHaveBeenCalledWith(null);
});

test('the same as a table', () => {
    const { answer, box } = shown('llama-70b-64-h100');
    const [head, ...rows] = cellsOf(unfold(box, 'As a table'));
    expect(head?.slice(0, 3)).toEqual(['Stage', 'Layers', 'Micro-batches in flight']);
    expect(head?.slice(-3)).toEqual(['Held between steps (GiB)', 'Total (GiB)', 'Of the card']);
    expect(rows.map((row) => row.at(-2))).toEqual(answer.stages.map(({ bytes }) => format.gib(bytes)));
    expect(rows.every((row) => row.length === head?.length)).toBe(true);
});
