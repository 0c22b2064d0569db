import { expect, test, vi } from 'vitest';
import { answeredOf, goodOf } from '../shared/test-data';
import { settle, show, spies, textOf, unfold, write } from '../shared/test-view';
import { CalibratePart, Parts, TimePart } from './parts';

const { page, answer } = answeredOf('llama-70b-64-h100');
const act = spies();
const never = () => new Promise<never>(() => {});

test('where the time goes: folded with its rates, open where a part of the bar is chosen', async () => {
    const drawn = (chosen: 'compute' | null) => <TimePart page={page} answer={answer} chosen={chosen} act={act} />;
    const { again, all, one, text } = show(drawn(null));
    expect(text()).toMatch(/^Where the time goes .* of the GPU’s peak of 989 TFLOP\/s dense bf16 \(MFU\)/);
    expect(one<HTMLDetailsElement>('details').open).toBe(false);
    again(drawn('compute'));
    expect(one<HTMLDetailsElement>('details').open).toBe(true);
    await expect.poll(() => all('table').length).toBeGreaterThan(0);
});

test('what is typed into the runs outlives the folding', async () => {
    const calibrate = async () => goodOf('calibrate', 'calibrate');
    const { all, box, find, one } = show(<CalibratePart page={page} act={act} calibrate={calibrate} />);
    const details = unfold(box, 'Calibrate with your own runs');
    await expect.poll(() => all('textbox').length).toBe(1);
    write(find('textbox', 'Your runs'), 'gpus tp');
    details.open = false;
    await settle();
    expect(all('textbox')).toEqual([]);
    details.open = true;
    await settle();
    expect(one<HTMLTextAreaElement>('textarea').value).toBe('gpus tp');
});

test('a calibration in use stands on its folded part', () => {
    const job = { ...page.job, time_factor: 1.1 };
    const { one } = show(<CalibratePart page={{ ...page, job }} act={act} calibrate={never} />);
    expect(textOf(one('summary'))).toBe('Calibrate with your own runs in use');
});

test('the parts of an answer: those about stages stand open where there are several', () => {
    const opened = (name: string): boolean[] => {
        const { box } = show(<Parts answer={answeredOf(name).answer} act={act} timeline={vi.fn(never)} />);
        return [...box.querySelectorAll<HTMLDetailsElement>('details.part-later')].map(({ open }) => open);
    };
    expect(opened('llama-70b-64-h100')).toEqual([true, true, false]);
    expect(opened('fsdp')).toEqual([false, false, false]);
    const { box, text } = show(<Parts answer={answeredOf('fsdp').answer} act={act} timeline={vi.fn(never)} />);
    expect(text()).toMatch(/by “Fourfold, every stage”, .* by “Fujii et al. 2024”/);
    expect(unfold(box, /^Two methods/).open).toBe(true);
});
