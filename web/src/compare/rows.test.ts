import { describe, expect, test } from 'vitest';
import type { Catalog, Estimate, Fit, Problem } from '../core/api';
import { pinOf } from '../state/state';
import { emptyPage, type Page } from '../store/page';
import { asMarkdown, asTsv, bestOf, columnsOf, findingOf, sectionsOf } from './rows';

const GIB = 2 ** 30;
const number = (key: string, link: string, label: string, initial: number) =>
    ({ key, link, label, help: '', unit: '', type: 'integer', default: initial, min: 1, max: 1e6, auto: false }) as const;
const catalog = {
    version: 1,
    gpus: [{ id: 'g', label: 'GPU 80 GB' }],
    clusters: [],
    models: [{ id: 'm', label: 'Model | one' }],
    methods: [{ id: 'detailed', label: 'Detailed' }],
    fields: [number('tensor_parallel', 'tp', 'Tensor parallel (TP)', 1), number('gpus', 'gpus', 'GPUs', 8)],
    rules: [],
} as unknown as Catalog;

// What the table reads of an answer, and no more.
function answer(tensor: number, gib: number, seconds: number, fit: Fit = 'fits'): Estimate {
    const rate = (id: string, mfu: number) => ({ id, mfu, tflop_per_s_per_gpu: mfu * 1000 });
    return {
        ok: true,
        job: { model: 'm', gpu: 'g', cluster: '', method: 'detailed', tensor_parallel: tensor, gpus: 8 },
        model: { label: 'Model', parameters: 1, config: {} },
        gpu: { id: 'g', label: 'GPU 80 GB', memory_gib: 80 },
        class: fit,
        whole_bytes: gib * GIB,
        card_bytes: 80 * GIB,
        share: gib / 80,
        equally_good: { count: 1, width: 0.015, memory_width: 0.003 },
        stage: 0,
        worst_stage: 1,
        groups: [
            { id: 'weights', label: 'Weights' },
            { id: 'activations', label: 'Activations' },
        ],
        outside: [{ id: 'nccl', bytes: 2 * GIB }],
        stages: [{ groups: { weights: GIB } }, { groups: { activations: (gib - 12) * GIB, weights: 10 * GIB } }],
        time: {
            step_seconds: seconds,
            low_seconds: seconds - 1,
            high_seconds: seconds + 1,
            tokens_per_s: 1000 / seconds,
            rates: [rate('full', 0.5 / seconds), rate('causal', 0.4 / seconds)],
            items: [
                { kind: 'compute', seconds: seconds - 1, share: 0.5 },
                { kind: 'bubble', seconds: 1, share: 0.5 },
            ],
            run: null,
        },
    } as unknown as Estimate;
}
const problem: Problem = {
    field: 'gpus',
    rule: 'range',
    value: 0,
    message: { id: 'Too few.' },
    suggestion: { id: 'Take more.' },
    nearest: null,
};

function pageOf(shown: Estimate, pinned: (Estimate | 'refused' | 'waiting')[]): Page {
    const pins = pinned.map((one, i) => pinOf(typeof one === 'string' ? { ...shown.job, gpus: 100 + i } : one.job, catalog));
    const answers = pinned.map((one) => (one === 'refused' ? { ok: false as const, problems: [problem] } : one));
    const known = pins.flatMap(({ text }, i) => (answers[i] === 'waiting' ? [] : [[text, answers[i]] as const]));
    return { ...emptyPage(catalog, {}), answer: shown, pins, pinAnswers: Object.fromEntries(known) as Page['pinAnswers'] };
}
const tableOf = (page: Page) => {
    const columns = columnsOf(page);
    const sections = sectionsOf(page, columns);
    const row = (id: string) => sections.flatMap(({ rows }) => rows).find((one) => one.id === id);
    return { columns, sections, row };
};

test('the plan shown comes first, and is said to be a pin where it is one', () => {
    const names = (page: Page) => columnsOf(page).map(({ name, shown }) => [name, shown]);
    expect(names(pageOf(answer(1, 40, 5), [answer(2, 30, 6)]))).toEqual([
        ['The plan shown', true],
        ['Pin 1', false],
    ]);
    expect(names(pageOf(answer(2, 30, 6), [answer(4, 20, 7), answer(2, 30, 6)]))).toEqual([
        ['Pin 1', false],
        ['Pin 2', true],
    ]);
    const broken = { ...pageOf(answer(1, 40, 5), [answer(2, 30, 6)]), problems: [problem] };
    expect(names(broken)).toEqual([['Pin 1', false]]);
});

test('a pin that left a field open is the plan shown where that field was chosen the same', () => {
    const open = { ...number('virtual_stages', 'vp', 'Chunks', 1), default: 'auto', auto: true } as const;
    const wider = { ...catalog, fields: [...catalog.fields, open] } as Catalog;
    const whole = answer(2, 30, 6);
    const shown = { ...whole, job: { ...whole.job, virtual_stages: 4 } };
    const pin = pinOf(whole.job, wider);
    const page = { ...emptyPage(wider, {}), answer: shown, pins: [pin] };
    expect(columnsOf(page).map((column) => column.shown)).toEqual([true, false]);
    expect(columnsOf({ ...page, pinAnswers: { [pin.text]: shown } }).map((column) => column.shown)).toEqual([true]);
});

test('only settings that differ have rows, with the labels of the catalogue', () => {
    const { sections } = tableOf(pageOf(answer(1, 40, 5), [answer(2, 30, 6)]));
    expect(sections[0]?.rows).toEqual([{ id: 'tensor_parallel', label: 'Tensor parallel (TP)', cells: [{ text: '1' }, { text: '2' }] }]);
    expect(tableOf(pageOf(answer(1, 40, 5), [answer(1, 40, 5)])).sections[0]?.id).toBe('memory');
});

test('layers are read as in the line of the plan, however many runs of them there are', () => {
    const layout = { key: 'layout', link: 'layout', label: 'Layers', help: '', unit: '', type: 'text', default: 'equal', choices: [] };
    const wider = { ...catalog, fields: [...catalog.fields, layout] } as unknown as Catalog;
    const laid = (text: string): Estimate => ({ ...answer(1, 40, 5), job: { ...answer(1, 40, 5).job, layout: text } }) as Estimate;
    const [one, other] = [laid('Et*8|(t*10|)*3t*8L'), laid('t|tt|t|tt|t|tt')];
    const page = { ...emptyPage(wider, {}), answer: one, pins: [pinOf(other.job, wider)] };
    const answered = { ...page, pinAnswers: { [page.pins[0]?.text ?? '']: other } };
    const cells = tableOf(answered)
        .row('layout')
        ?.cells.map(({ text }) => text);
    expect(cells).toEqual(['layers 8 | 3 × 10 | 8', 'layers 1 | 2 | 1 | 2 | 1 | 2']);
});

test('the groups are those of the fullest stage, in the order of the answer', () => {
    const { sections } = tableOf(pageOf(answer(1, 40, 5), [answer(2, 30, 6)]));
    const rows = sections[1]?.rows.map(({ id, cells }) => [id, ...cells.map(({ text }) => text.replace(/\s/g, ' '))]);
    expect(rows?.slice(3)).toEqual([
        ['memory-weights', '10.0 GB', '10.0 GB'],
        ['memory-activations', '28.0 GB', '18.0 GB'],
        ['memory-outside', '2.00 GB', '2.00 GB'],
    ]);
});

test('a method that counts nothing outside the allocator has no number there', () => {
    const { row } = tableOf(pageOf(answer(1, 40, 5), [{ ...answer(2, 30, 6), outside: [] }]));
    expect(row('memory-outside')?.cells.map(({ text }) => text.replace(/\s/g, ' '))).toEqual(['2.00 GB', '–']);
});

describe('the best value of a row', () => {
    const spec = (better: 'less' | 'more', width = 0) => ({
        id: 'step',
        label: '',
        text: ({ time }: Estimate) => time.step_seconds.toFixed(1),
        value: ({ time }: Estimate) => time.step_seconds,
        better,
        width: () => width,
    });
    const columns = (...answers: (Estimate | 'refused' | 'waiting')[]) => columnsOf(pageOf(answer(99, 1, 1), answers)).slice(1);
    test('is the smallest or the largest', () => {
        expect(bestOf(columns(answer(1, 1, 3), answer(2, 1, 2), answer(4, 1, 4)), spec('less'))).toBe(1);
        expect(bestOf(columns(answer(1, 1, 3), answer(2, 1, 2), answer(4, 1, 4)), spec('more'))).toBe(2);
    });
    test('is none where two read the same, where there is one plan, where nothing is compared', () => {
        expect(bestOf(columns(answer(1, 1, 2), answer(2, 1, 2.001)), spec('less'))).toBe(-1);
        expect(bestOf(columns(answer(1, 1, 2), 'refused', 'waiting'), spec('less'))).toBe(-1);
        expect(bestOf(columns(answer(1, 1, 2), answer(2, 1, 3)), { id: '', label: '', text: () => 'x' })).toBe(-1);
    });
    test('is none within what the estimate can tell', () => {
        expect(bestOf(columns(answer(1, 1, 100), answer(2, 1, 101)), spec('less', 0.005))).toBe(0);
        expect(bestOf(columns(answer(1, 1, 100), answer(2, 1, 101)), spec('less', 0.015))).toBe(-1);
    });
    test('is never that of a plan that does not fit', () => {
        expect(bestOf(columns(answer(1, 90, 1, 'does_not_fit'), answer(2, 1, 3), answer(4, 1, 2, 'at_risk')), spec('less'))).toBe(2);
    });
});

test('the finding says what is marked', () => {
    const finding = (...plans: Estimate[]) => {
        const { columns, sections } = tableOf(pageOf(answer(1, 40, 5), plans));
        return findingOf(columns, sections).replace(/\s/g, ' ');
    };
    expect(finding(answer(2, 30, 6))).toBe('Shortest step, 5.00 s: The plan shown. Least memory, 30.0 GB: Pin 1.');
    expect(finding(answer(2, 30, 4))).toBe('Shortest step (4.00 s) and least memory (30.0 GB): Pin 1.');
    expect(finding(answer(2, 40, 5))).toBe('2 plans are equally fast as far as the estimate can tell.');
    expect(finding(answer(2, 30, 5.05), answer(4, 20, 6))).toBe(
        '2 plans are equally fast as far as the estimate can tell. Least memory, 20.0 GB: Pin 2.',
    );
    // 39.9 and 40.0 GB are the same as far as the estimate can tell
    expect(finding(answer(2, 39.9, 6))).toBe('Shortest step, 5.00 s: The plan shown.');
    expect(finding(answer(2, 39.8, 6))).toBe('Shortest step, 5.00 s: The plan shown. Least memory, 39.8 GB: Pin 1.');
    expect(finding(answer(2, 30, 6), answer(4, 90, 1, 'does_not_fit'))).toMatch(
        /^Shortest step, .*: The plan shown. .* Plans that do not fit are left out\.$/,
    );
});

test('the rates follow the convention that the reader has chosen', () => {
    const page = pageOf(answer(1, 40, 5), [answer(2, 30, 4)]);
    const shown = (one: Page) => {
        const row = tableOf(one).row('mfu');
        return [row?.basis, ...(row?.cells.map(({ text, best }) => [text.replace(/\s/g, ' '), best]) ?? [])];
    };
    expect(shown(page)).toEqual(['attention counted whole (as Fujii et al. count it)', ['10 %', false], ['13 %', true]]);
    expect(shown({ ...page, rate: 'causal' })).toEqual(['attention counted half (causal)', ['8 %', false], ['10 %', true]]);
});

test('a refused plan shows its problems, a plan on its way waits, and the others keep their numbers', () => {
    const { row } = tableOf(pageOf(answer(1, 40, 5), ['refused', 'waiting', answer(2, 30, 6)]));
    expect(row('verdict')?.cells).toMatchObject([{ text: 'fits' }, { problems: [problem] }, {}, { text: 'fits' }]);
    expect(row('bytes')?.cells.map(({ text }) => text.replace(/\s/g, ' '))).toEqual(['40.0 GB', '–', '–', '30.0 GB']);
    expect(row('days')).toBe(undefined);
});

test('copies hold every row, as a table of tabs and as Markdown', () => {
    const { columns, sections } = tableOf(pageOf(answer(1, 40, 5), [answer(2, 30, 6), 'refused']));
    const tsv = asTsv(columns, sections).split('\n');
    expect(tsv[0]).toBe('\tThe plan shown\tPin 1\tPin 2');
    expect(tsv).toContain('One step\t5.00 s (4.00 s to 6.00 s)\t6.00 s (5.00 s to 7.00 s)\t–');
    expect(tsv).toContain('Verdict\tfits\tfits\tCannot work. Too few.');
    expect(tsv.every((line) => line.split('\t').length === 4)).toBe(true);
    const markdown = asMarkdown(columns, sections).split('\n');
    expect(markdown[1]).toBe('| --- | --- | --- | --- |');
    expect(markdown).toContain('| One step | **5.00 s (4.00 s to 6.00 s)** | 6.00 s (5.00 s to 7.00 s) | – |');
    expect(markdown.every((line) => line.split(/(?<!\\)\|/).length === 6)).toBe(true);
});
