// What the core answered (tests/golden/), as the page keeps it.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Answers, Catalog, Estimate, JobRequest, PlaceRequest, Refusal, SearchColumns, SearchSummary } from '../core/api';
import { choicesOf, type Heat, indexRows, quickestOf } from '../core/heat';
import type { Measured } from '../core/types';
import { isWhole, type WholeEstimate } from '../core/types';
import { defaults, type Job, withConfig, withGpu } from '../state/state';
import { emptyPage, type Page } from '../store/page';

const inRoot = (path: string): string => join(import.meta.dirname, '../../..', path);
const json = (path: string) => JSON.parse(readFileSync(inRoot(path), 'utf8'));
const files = (folder: string) => readdirSync(inRoot(folder)).map((name) => json(folder + name));

interface Golden<Response> {
    request: JobRequest;
    response: Response;
    columns: { [key: string]: number[] };
}
const golden = <Response>(name: string): Golden<Response> => json(`tests/golden/${name}.json`);

type Good<Name extends keyof Answers> = Exclude<Answers[Name], { ok: false }>;
export const goodOf = <Name extends keyof Answers>(_: Name, name: string): Good<Name> => golden<Good<Name>>(name).response;
export const refusalOf = (name: string): Refusal => golden<Refusal>(name).response;

const ranked = goodOf('rank', 'rank-70b');

// As catalog() has it, made of the files that the core is built with.
export const catalog: Catalog = {
    version: 2,
    gpus: files('core/data/gpus/').map((gpu) => ({ ...gpu, network_gbyte_per_s: gpu.architecture === 'ampere' ? 25 : 50 })),
    clusters: files('core/data/clusters/'),
    models: files('core/data/models/').map((model) => ({
        ...model,
        parameters: model.published_parameters,
        max_position_embeddings: model.config.max_position_embeddings ?? model.config.n_positions ?? model.config.seq_length,
    })),
    methods: [
        { id: 'detailed', source: { title: 'Korthikanti et al. (2022)', url: 'https://arxiv.org/abs/2205.05198' }, limits: ['checked_on'] },
        {
            id: 'fujii2024',
            source: { title: 'Fujii et al. (2024)', url: 'https://arxiv.org/abs/2411.06465' },
            limits: ['first_stage_only'],
        },
    ],
    fields: json('tests/golden/fields.json').response,
    gpu_fields: json('tests/golden/gpu-fields.json').response,
    config_formats: json('tests/golden/config-formats.json').response,
    rules: ranked.rejected.map(({ rule }) => ({ id: rule })),
};

function jobOf({ version: _, model, ...rest }: JobRequest): Job {
    const { gpu, ...named } = rest;
    const plain: Job = { ...defaults(catalog), ...named };
    const job = typeof gpu === 'object' ? withGpu(plain, gpu) : { ...plain, ...(gpu && { gpu }) };
    if (model === undefined) return job;
    return typeof model === 'string' ? { ...job, model } : withConfig(job, model);
}

// The page once the core has answered: the last answer stays where the new one is a refusal.
export function pageOf(name = 'default', changes: Partial<Page> = {}): Page {
    const { request, response } = golden<Estimate | Refusal>(name);
    const page = emptyPage(catalog, jobOf(request));
    const answered = response.ok ? { answer: response } : { answer: goodOf('estimate', 'default'), problems: response.problems };
    return { ...page, ...answered, ...changes };
}

// The names of all that were answered with an estimate.
export const answered = (): string[] =>
    readdirSync(inRoot('tests/golden'))
        .filter((file) => file.endsWith('.json'))
        .map((file) => file.replace('.json', ''))
        .filter((name) => {
            const { response } = golden<Partial<Estimate>>(name);
            return response?.ok === true && response.groups !== undefined;
        });

// With an answer that is there for certain.
export function answeredOf(name = 'default', changes: Partial<Page> = {}): { page: Page; answer: WholeEstimate } {
    const page = pageOf(name, changes);
    if (!page.answer || !isWhole(page.answer)) throw new Error(`${name} is no whole answer`);
    return { page, answer: page.answer };
}

export function heatOf(): Heat {
    const { columns: lists, response: summary } = golden<SearchSummary>('search-small');
    const typed = Object.entries(lists).map(([key, list]) => {
        const real = /bytes|share|seconds|tokens/.test(key);
        return [key, key === 'class' ? Uint8Array.from(list) : real ? Float64Array.from(list) : Int32Array.from(list)];
    });
    const columns = Object.fromEntries(typed) as SearchColumns;
    return { summary, columns, ...indexRows(columns), quickest: quickestOf(columns), choices: choicesOf(columns) };
}
export const searchedPage = (changes: Partial<Page> = {}): Page => {
    const job = jobOf(golden('search-small').request);
    return { ...emptyPage(catalog, job), heat: heatOf(), heatOf: job, ...changes };
};

// The list of best plans, and the answer to its first one.
export const rankedPage = (changes: Partial<Page> = {}): Page => {
    const page = emptyPage(catalog, jobOf(golden('rank-70b').request));
    return { ...page, answer: goodOf('estimate', 'llama-70b-64-h100'), ranking: { ...page.ranking, ranked }, ...changes };
};

const MOST_SLOW = 10;

// A measurement as the page keeps it, of the links that a placement was asked for.
export function measuredOf(name = 'place-pipette'): Measured {
    const { links } = golden<unknown>(name).request as PlaceRequest;
    const names = links.nodes ?? links.gpus ?? [];
    const rows = links.gbyte_per_s ?? [];
    const all = rows.flatMap((row, from) =>
        row.flatMap((rate, to) => (rate === null ? [] : [{ from: names[from] ?? '', to: names[to] ?? '', gbyte_per_s: rate }])),
    );
    const sorted = all.sort((a, b) => a.gbyte_per_s - b.gbyte_per_s);
    const median = sorted[sorted.length >> 1]?.gbyte_per_s ?? 0;
    const [first, last] = [sorted[0], sorted.at(-1)];
    return {
        ok: true,
        version: 2,
        format: { id: 'json' },
        unit: 'gbyte_per_s',
        unit_source: 'file',
        names,
        gpus: false,
        rates: Float64Array.from(rows.flatMap((row) => row.map((rate) => rate ?? Number.NaN))),
        latencies: null,
        symmetric: true,
        asymmetry: 0,
        missing: [],
        missing_count: 0,
        slow: sorted.slice(0, MOST_SLOW).map((link) => ({ ...link, share_of_median: link.gbyte_per_s / median })),
        median_gbyte_per_s: median,
        lowest: first?.gbyte_per_s ?? 0,
        highest: last?.gbyte_per_s ?? 0,
        set: {},
        notes: [],
    };
}
