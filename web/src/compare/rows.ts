// Pinned plans side by side, as a table: which plans, which rows, and which value of a row is the best. All numbers are the core's; here
// they are only laid out and compared.
import type { Catalog, Estimate, Field, Fit, Json, Problem, TimeKind } from '../core/api';
import { entriesOf, keysOf } from '../core/keys';
import { format } from '../format/format';
import { kindsOf, sumOf } from '../format/sums';
import { gpuLabel, modelLabel, moneyOf, rateOf } from '../shared/answer-words';
import { choiceLabel, chosenNames, labelOf, messageOf, nameOf } from '../shared/names';
import { layersText } from '../shared/plan-words';
import { parseLayout } from '../state/layout';
import { BUDGET, configOf, defaults, isConfigKey, isGpuKey, type Job, type JobKey, ownGpuOf, type Pin, pinOf } from '../state/state';
import { type Page, pinLike } from '../store/page';
import { listed, say, sentences } from '../words/words';

export interface Column {
    pin: Pin;
    name: string;
    shown: boolean; // the plan that the page shows
    pinned: boolean;
    answer: Estimate | null; // null while it is being worked out, and when it cannot be
    problems: Problem[];
}

export interface Cell {
    text: string;
    small?: string; // what belongs to it: the band of a time
    fit?: Fit;
    problems?: Problem[];
    best?: boolean;
}

const NONE = '–';

export type Part = { memory: string } | { time: TimeKind }; // what a row's colour stands for

export interface Row {
    id: string;
    label: string;
    basis?: string; // what a copy must say besides, for it leaves the notes behind
    part?: Part;
    cells: Cell[];
}

export interface Section {
    id: 'settings' | 'memory' | 'time' | 'run';
    label: string;
    rows: Row[];
}

// The plan shown comes first, unless it is one of the pinned ones: then its own column says so.
export function columnsOf(page: Page): Column[] {
    const shown = page.answer && page.problems.length === 0 ? { pin: pinOf(page.answer.job, page.catalog), answer: page.answer } : null;
    const pinned = page.pins.map((pin, i): Column => {
        const answer = page.pinAnswers[pin.text];
        return {
            pin,
            name: say('compare.pin', { number: i + 1 }),
            shown: shown !== null && pinLike(page, shown.pin) === pin,
            pinned: true,
            answer: answer?.ok ? answer : null,
            problems: answer?.ok === false ? answer.problems : [],
        };
    });
    if (!shown || pinned.some((column) => column.shown)) return named(page, pinned);
    return named(page, [{ ...shown, name: say('compare.shown'), shown: true, pinned: false, problems: [] }, ...pinned]);
}

// A pin is called by what sets it apart from all others, where one of these does.
const APART = ['model', 'gpu', 'cluster', 'gpus'] as const satisfies readonly JobKey[];

function named(page: Page, columns: Column[]): Column[] {
    const called = (key: (typeof APART)[number]) =>
        columns.map((column) => {
            const job = resolved(column);
            return key === 'gpus' ? say('compare.gpus', { count: Number(job.gpus) }) : valueText(page, job, key);
        });
    const names = columns.length > 1 && APART.map(called).find((all) => new Set(all).size === all.length);
    return names ? columns.map((column, i) => (column.pinned ? { ...column, name: names[i] ?? column.name } : column)) : columns;
}

// ---- what differs
function identity(job: Job, key: JobKey): string {
    const own = key === 'model' ? configOf(job) : key === 'gpu' ? ownGpuOf(job) : null;
    return JSON.stringify(own ?? job[key]);
}

// With what was chosen where a pin leaves a field open.
function resolved({ pin: { job }, answer }: Column): Job {
    const chosen = entriesOf(job).map(([key, value]) => [
        key,
        value === 'auto' && !isConfigKey(key) && !isGpuKey(key) ? (answer?.job[key] ?? value) : value,
    ]);
    return Object.fromEntries(chosen) as Job;
}

function fieldText(catalog: Catalog, field: Field, value: Json): string {
    // As the line of the plan says them, but all: they are what differs.
    if (field.key === 'layout' && parseLayout(String(value))) return layersText(String(value), Number.POSITIVE_INFINITY);
    if (field.type === 'choice' || field.type === 'text') return choiceLabel(catalog, field.key, String(value));
    if (field.type === 'set' && value !== 'auto') return listed(chosenNames(catalog, field.key, String(value))) || say('compare.nothing');
    if (typeof value === 'boolean') return value ? say('adjust.yes') : say('adjust.no');
    if (typeof value !== 'number') return value === 'auto' ? say('adjust.auto') : String(value);
    if (value === 0 && (BUDGET as readonly string[]).includes(field.key)) return say('budget.none');
    return field.key === 'token_budget' ? format.short(value) : format.number(value);
}

function valueText(page: Page, job: Job, key: JobKey): string {
    const { catalog } = page;
    if (key === 'model') return modelLabel({ ...page, job });
    if (key === 'gpu') return gpuLabel({ ...page, job });
    if (key === 'cluster') return catalog.clusters.find(({ id }) => id === job.cluster)?.label ?? say('adjust.no_cluster');
    if (key === 'method') return nameOf('method', catalog.methods.find(({ id }) => id === job.method) ?? { id: String(job.method) });
    const field = catalog.fields.find((one) => one.key === key);
    return field ? fieldText(catalog, field, job[key] ?? field.default) : '';
}

function settingRows(page: Page, columns: Column[]): Row[] {
    const keys = keysOf(defaults(page.catalog));
    const jobs = columns.map(resolved);
    const differ = (key: JobKey): boolean => new Set(jobs.map((job) => identity(job, key))).size > 1;
    return keys.filter(differ).map((key) => ({
        id: key,
        label: labelOf(page.catalog.fields, key),
        cells: jobs.map((job) => ({ text: valueText(page, job, key) })),
    }));
}

// ---- results
interface Spec {
    id: string;
    label: string;
    basis?: string;
    text(answer: Estimate): string | null; // null: not there, or not asked for
    small?(answer: Estimate): string;
    value?(answer: Estimate): number | null | undefined; // by which one plan is better than another
    better?: 'less' | 'more';
    width?(answer: Estimate): number; // share within which two values cannot be told apart
    part?: Part;
}

// The one best value. A plan that does not fit can win nothing, and what reads the same, or lies within what the estimate can tell, is not
// told apart.
export function bestOf(columns: Column[], { text, value, better, width }: Spec): number {
    const runnable = columns.flatMap(({ answer }, i) => {
        const size = answer && answer.class !== 'does_not_fit' ? value?.(answer) : null;
        if (!answer || typeof size !== 'number') return [];
        return [{ i, size: better === 'more' ? -size : size, text: text(answer), width: width?.(answer) ?? 0 }];
    });
    const [first, second] = runnable.sort((a, b) => a.size - b.size);
    if (!first || !second) return -1;
    const isNear = second.size - first.size <= first.width * Math.abs(first.size);
    return !isNear && !runnable.some((one) => one !== first && one.text === first.text) ? first.i : -1;
}

// Every value that follows from the time of a step.
const tieWidth = ({ equally_good }: Estimate): number => equally_good.width;
const memoryWidth = ({ equally_good }: Estimate): number => equally_good.memory_width;

function rowOf(columns: Column[], spec: Spec): Row[] {
    const best = bestOf(columns, spec);
    const texts = columns.map(({ answer }) => answer && spec.text(answer));
    if (texts.every((text) => text === null)) return [];
    const cells = columns.map(({ answer }, i): Cell => {
        const text = texts[i];
        if (!answer || text === null || text === undefined) return { text: NONE };
        return { text, best: i === best, ...(spec.small && { small: spec.small(answer) }) };
    });
    const { id, label, part, basis } = spec;
    return [{ id, label, cells, ...(part && { part }), ...(basis && { basis }) }];
}

const verdictRow = (columns: Column[]): Row => ({
    id: 'verdict',
    label: say('compare.verdict'),
    cells: columns.map(({ answer, problems }) =>
        answer
            ? { text: say(`fit.${answer.class}`), fit: answer.class }
            : problems.length > 0
              ? { text: say('answer.cannot'), fit: 'does_not_fit', problems }
              : { text: say('later.coming') },
    ),
});

// Ids in the order in which the answers first name them.
const idsOf = (columns: Column[], read: (answer: Estimate) => string[]): string[] => [
    ...new Set(columns.flatMap(({ answer }) => (answer ? read(answer) : []))),
];

// The groups of the fullest stage, whichever one the page shows, and what lies outside the allocator there: together they are the whole.
export const groupsOf = ({ stages, worst_stage, outside }: Estimate): { [id: string]: number } => ({
    ...stages[worst_stage]?.groups,
    ...(outside.length > 0 && { outside: sumOf(outside).bytes }),
});

function memorySpecs(columns: Column[]): Spec[] {
    const labels = new Map<string, string>(
        columns.flatMap(({ answer }) => answer?.groups.map((group) => [group.id, nameOf('group', group)] as const) ?? []),
    ).set('outside', nameOf('group', { id: 'outside' }));
    return [
        {
            id: 'share',
            label: say('compare.share'),
            text: ({ whole_bytes, card_bytes }) => format.percent(whole_bytes / card_bytes),
            value: ({ whole_bytes, card_bytes }) => whole_bytes / card_bytes,
            better: 'less',
            width: memoryWidth,
        },
        {
            id: 'bytes',
            label: say('compare.memory'),
            text: ({ whole_bytes }) => say('compare.gb', { size: whole_bytes }),
            value: ({ whole_bytes }) => whole_bytes,
            better: 'less',
            width: memoryWidth,
        },
        ...idsOf(columns, (answer) => Object.keys(groupsOf(answer)).sort(byOrder([...labels.keys()]))).map((id) => ({
            id: `memory-${id}`,
            label: labels.get(id) ?? id,
            text: (answer: Estimate) => (id in groupsOf(answer) ? say('compare.gb', { size: groupsOf(answer)[id] ?? 0 }) : null),
            part: { memory: id },
        })),
    ];
}

const byOrder =
    (order: string[]) =>
    (a: string, b: string): number =>
        order.indexOf(a) - order.indexOf(b);

// How FLOP are counted here, in words.
export function conventionOf(page: Page, columns: Column[]): string {
    const some = columns.find(({ answer }) => answer)?.answer;
    return some ? nameOf('rate', rateOf(some, page)) : '';
}

function timeSpecs(page: Page, columns: Column[]): Spec[] {
    const basis = conventionOf(page, columns);
    const secondsOf = (answer: Estimate, kind: string): number => kindsOf(answer.time.items).find((one) => one.kind === kind)?.seconds ?? 0;
    return [
        {
            id: 'step',
            label: say('compare.step'),
            text: ({ time }) => format.duration(time.step_seconds),
            value: ({ time }) => time.step_seconds,
            better: 'less',
            width: tieWidth,
            small: ({ time }) =>
                say('compare.between', { low: format.duration(time.low_seconds), high: format.duration(time.high_seconds) }),
        },
        ...(idsOf(columns, ({ time }) => kindsOf(time.items).map(({ kind }) => kind)) as TimeKind[]).map((kind) => ({
            id: `time-${kind}`,
            label: say(`step.kind.${kind}`),
            text: (answer: Estimate) => (secondsOf(answer, kind) > 0 ? format.duration(secondsOf(answer, kind)) : NONE),
            part: { time: kind },
        })),
        {
            id: 'tokens',
            label: say('compare.speed'),
            text: ({ time }) => format.rounded(time.tokens_per_s),
            value: ({ time }) => time.tokens_per_s,
            better: 'more',
            width: tieWidth,
        },
        {
            id: 'flop',
            label: say('compare.flop'),
            basis,
            text: (answer) => format.rounded(rateOf(answer, page).tflop_per_s_per_gpu),
            value: (answer) => rateOf(answer, page).tflop_per_s_per_gpu,
            better: 'more',
            width: tieWidth,
        },
        {
            id: 'mfu',
            label: say('compare.mfu'),
            basis,
            text: (answer) => format.percent(rateOf(answer, page).mfu),
            value: (answer) => rateOf(answer, page).mfu,
            better: 'more',
            width: tieWidth,
        },
    ];
}

const runSpecs = (): Spec[] => [
    {
        id: 'days',
        label: say('compare.run'),
        text: ({ time: { run } }) => run && format.training(run.days, run.low_days, run.high_days)[0],
        small: ({ time: { run } }) => {
            const [, low, high] = run ? format.training(run.days, run.low_days, run.high_days) : ['', '', ''];
            return say('compare.between', { low, high });
        },
        value: ({ time: { run } }) => run?.days,
        better: 'less',
        width: tieWidth,
    },
    {
        id: 'hours',
        label: say('compare.hours'),
        text: ({ time: { run } }) => run && format.rounded(run.gpu_hours),
        value: ({ time: { run } }) => run?.gpu_hours,
        better: 'less',
        width: tieWidth,
    },
    {
        id: 'cost',
        label: say('compare.cost'),
        text: ({ time: { run }, job }) => (run && run.cost !== null ? moneyOf(job, run.cost) : null),
        value: ({ time: { run } }) => run?.cost,
        better: 'less',
        width: tieWidth,
    },
    {
        id: 'energy',
        label: say('compare.energy'),
        text: ({ time: { run } }) => (run && run.energy_kwh !== null ? format.energy(run.energy_kwh) : null),
        value: ({ time: { run } }) => run?.energy_kwh,
        better: 'less',
        width: tieWidth,
    },
];

export function sectionsOf(page: Page, columns: Column[]): Section[] {
    const rows = (specs: Spec[]): Row[] => specs.flatMap((spec) => rowOf(columns, spec));
    const sections: Section[] = [
        { id: 'settings', label: say('compare.settings'), rows: settingRows(page, columns) },
        { id: 'memory', label: say('compare.memory_title'), rows: [verdictRow(columns), ...rows(memorySpecs(columns))] },
        { id: 'time', label: say('compare.time_title'), rows: rows(timeSpecs(page, columns)) },
        { id: 'run', label: say('compare.run_title'), rows: rows(runSpecs()) },
    ];
    return sections.filter((section) => section.rows.length > 0);
}

// So many of the plans that can run are as fast as the fastest of them, as far as the estimate can tell.
function equallyFast(columns: Column[]): number {
    const answers = columns.flatMap(({ answer }) => (answer && answer.class !== 'does_not_fit' ? [answer] : []));
    const least = Math.min(...answers.map(({ time }) => time.step_seconds));
    return answers.filter((answer) => answer.time.step_seconds - least <= tieWidth(answer) * least).length;
}

// What the marks say, in a sentence; '' when nothing stands out.
export function findingOf(columns: Column[], sections: Section[]): string {
    const winner = (id: string) => {
        const cells = sections.flatMap(({ rows }) => rows).find((row) => row.id === id)?.cells ?? [];
        const i = cells.findIndex((cell) => cell.best);
        return { name: columns[i]?.name, text: cells[i]?.text ?? '' };
    };
    const [fastest, smallest] = [winner('step'), winner('bytes')];
    const parts =
        fastest.name && fastest.name === smallest.name
            ? [say('compare.both', { name: fastest.name, time: fastest.text, memory: smallest.text })]
            : [
                  ...(fastest.name ? [say('compare.fastest', { name: fastest.name, time: fastest.text })] : []),
                  ...(smallest.name ? [say('compare.smallest', { name: smallest.name, memory: smallest.text })] : []),
              ];
    const tied = equallyFast(columns);
    if (!fastest.name && tied > 1) parts.unshift(say('compare.tie', { count: tied }));
    if (parts.length > 0 && columns.some(({ answer }) => answer?.class === 'does_not_fit')) parts.push(say('compare.among'));
    return sentences(...parts);
}

// ---- to be pasted elsewhere
const whole = ({ text, small, problems = [] }: Cell): string =>
    [text, ...(small ? [`(${small})`] : []), ...problems.map(messageOf)].join(' ');

const copied = ({ label, basis }: Row): string => (basis ? `${label}, ${basis}` : label);

export const asTsv = (columns: Column[], sections: Section[]): string =>
    [['', ...columns.map(({ name }) => name)], ...sections.flatMap(({ rows }) => rows.map((row) => [copied(row), ...row.cells.map(whole)]))]
        .map((cells) => cells.map((cell) => cell.replace(/\s/g, ' ')).join('\t'))
        .join('\n');

const markdownLine = (cells: string[]): string => `| ${cells.map((cell) => cell.replace(/\s/g, ' ').replaceAll('|', '\\|')).join(' | ')} |`;

export const asMarkdown = (columns: Column[], sections: Section[]): string =>
    [
        markdownLine(['', ...columns.map(({ name }) => name)]),
        markdownLine(['---', ...columns.map(() => '---')]),
        ...sections.flatMap(({ rows }) =>
            rows.map(({ label, cells }) => markdownLine([label, ...cells.map((cell) => (cell.best ? `**${whole(cell)}**` : whole(cell)))])),
        ),
    ].join('\n');
