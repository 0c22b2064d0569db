// The page's state is one flat job, and a link is that job written out. Pure functions: no window, no history.
//   ?v=2&model=llama-3.1-8b&gpu=h100-sxm-80gb&gpus=8&seq=8192&batch=1024&tp=2
// Plans that the reader has pinned follow, each a link of its own with semicolons between its parts:
//   &pin=model=llama-3.1-8b;gpu=h100-sxm-80gb;gpus=8;seq=8192;batch=1024;tp=2;cp=1;pp=1;mb=1
// Links of version 1 keep their meaning: see fromVersion1.
// A pasted model is model=custom and one model.<key> for each key of its config, a GPU of one's own is gpu=custom with gpu.name, gpu.base and
// the numbers in which it differs from that one. Short names come from the catalogue's fields.
import type { Catalog, Field, FieldKey, GpuField, JobRequest, Json, OwnGpu, PlanRequest } from '../core/api';
import { typedFormat } from '../format/typed';
import { kindOf, kindOfGpu } from './kind';
import { VIEW_PARAMETERS } from './view';

export const LINK_VERSION = 2;
export const CUSTOM_MODEL = 'custom';
export const CUSTOM_GPU = 'custom';
// What the core reads of a config at most. A larger text is refused before it reaches the field: laying it out alone would stop the page.
export const MAX_CONFIG = 1_000_000;
export const MAX_LOG = 25_000_000; // of what a run printed

const NAMED = ['model', 'gpu', 'cluster', 'method'] as const; // keys that are their own short name

export type Value = string | number | boolean;
type Named = (typeof NAMED)[number];
export type JobKey = FieldKey | Named;
type ConfigKey = `model.${string}`;
type GpuKey = `gpu.${string}`;
type Plain = { readonly [key in FieldKey]?: Value } & { readonly [key in Named]?: string };
export type Job = Plain & { readonly [key: ConfigKey | GpuKey]: Value | null };
type Open<Type> = { -readonly [key in keyof Type]: Type[key] };

// A plan put aside to be compared: a job whose plan is set, so that it never moves when "auto" would choose differently. `text` is
// its part of a link, the same for the same job.
export interface Pin {
    text: string;
    job: Job;
}
export const MAX_PINS = 6;

export interface ParsedLink {
    job: Job;
    pins: Pin[];
    unknown: string[]; // keys that no version of the page has written: kept out, and said so
    newer: boolean; // made by a newer version of the page
    widened: boolean; // of version 1 without a plan of its own: more is chosen for it now than then
}

const CONFIG_PREFIX = 'model.' as const;
const GPU_PREFIX = 'gpu.' as const;
const GPU_TEXTS = ['gpu.name', 'gpu.base'] as const; // everything else of a GPU is a number
const ALWAYS_WRITTEN = new Set(['model', 'gpu', 'gpus', 'sequence_length', 'global_batch']);
const PIN = 'pin'; // may stand in a link several times
const MOST_NAMED = 60; // characters of a broken pin, or of an unknown part, that are shown
const TRACKING = /^(utm_.*|fbclid|gclid|ref)$/; // appended by the sites that carry a link, not by its author

export const isConfigKey = (key: string): key is ConfigKey => key.startsWith(CONFIG_PREFIX);
export const isGpuKey = (key: string): key is GpuKey => key.startsWith(GPU_PREFIX);
export const gpuKey = ({ key }: Pick<GpuField, 'key'>): GpuKey => `${GPU_PREFIX}${key}`;
const isNamed = (key: string): key is Named => (NAMED as readonly string[]).includes(key);

export function defaults(catalog: Catalog): Plain {
    const job: Open<Job> = {
        model: 'llama-3.1-8b',
        gpu: 'h100-sxm-80gb',
        cluster: '',
        method: catalog.methods[0]?.id ?? 'detailed',
    };
    for (const field of catalog.fields) job[field.key] = field.default;
    return job;
}

const MOST_UNKNOWN = 10; // parts of a link that a notice names

// The unknown parts of a link for a notice: the first ones, each cut to a length that can be read, and how many more there are.
export function unknownParts(unknown: readonly string[], said = (part: string): string => part): string {
    const named = unknown.slice(0, MOST_UNKNOWN).map((part) => (part.length > MOST_NAMED ? `${part.slice(0, MOST_NAMED)}…` : said(part)));
    if (unknown.length > named.length) named.push(`… (+${unknown.length - named.length})`);
    return named.join(', ');
}

const isWhole = (text: string): boolean => /^\d{1,32}$/.test(text);

const isDecimal = (text: string): boolean => /^-?\d{1,32}(\.\d+)?(e[-+]?\d{1,2})?$/.test(text);

// A link's numbers are written with a point, wherever it is read.
const inLinks = typedFormat(() => '.');

// As people write it: 8k, 4x8, and what needs other fields of the job, as 4M tokens of a batch. Digits and signs alone are no such text.
function readTyped(catalog: Catalog, { key, type }: Field, job: Job): Value {
    const value = job[key] ?? '';
    if (typeof value !== 'string' || !/[^\d.,]/.test(value) || (type !== 'integer' && type !== 'number')) return value;
    const number = inLinks.read(
        value,
        kindOf(catalog, key, (other) => job[other]),
    );
    return typeof number === 'number' ? number : value;
}

// A text that the field cannot hold stays a text: the core says what is wrong with it, and the reader sees what was written.
export function readField(field: Field, text: string): Value {
    if (field.type === 'integer' && isWhole(text)) return Number(text);
    if (field.type === 'number' && isDecimal(text)) return Number(text);
    if (field.type === 'boolean' && (text === 'true' || text === '1')) return true;
    if (field.type === 'boolean' && (text === 'false' || text === '0')) return false;
    return text;
}

// Of a GPU of the reader's own, under its name in a link; false: there is no such number.
function readGpuPart(job: Open<Job>, catalog: Catalog, name: string, text: string): boolean {
    const known = GPU_TEXTS.find((key) => key === name);
    const field = catalog.gpu_fields.find(({ link }) => link === name);
    if (known) job[known] = text;
    else if (field) job[gpuKey(field)] = isDecimal(text) ? Number(text) : inLinks.read(text, kindOfGpu(field));
    return known !== undefined || field !== undefined;
}

function readConfigValue(text: string): Value | null {
    if (text === 'true') return true;
    if (text === 'false') return false;
    if (text === 'null') return null;
    if (/^-?\d+(\.\d+)?(e[-+]?\d+)?$/i.test(text)) return Number(text);
    if (/^".*"$/s.test(text)) {
        try {
            const value: unknown = JSON.parse(text);
            if (typeof value === 'string') return value;
        } catch {
            return text; // a text that only looks quoted
        }
    }
    return text;
}

// A text that would read as something else is quoted: a model named "true" stays a name.
const writeConfigValue = (value: Value | null): string =>
    typeof value === 'string' && readConfigValue(value) === value ? value : JSON.stringify(value);

// ---- version 1
// What the fields of a plan that the page can choose meant when a link did not have them; fields beside them that say how a plan is made.
const PLAN_BESIDES: readonly FieldKey[] = [
    'first_stage_layers',
    'last_stage_layers',
    'count_embedding_as_layer',
    'count_loss_as_layer',
    'recompute_modules',
    'shard_replicas',
    'optimizer_offload',
];
// Version 1 named what the list of plans tried ("vary"), version 2 names what the search leaves out ("without").
const VARY = 'vary';
// Older links name what is left out so. Their searches did not know these choices.
const WITHOUT = 'without';
const SINCE_WITHOUT = 'megatron_fsdp,shard_copies';
const VARIED: Record<string, string> = {
    virtual_stages: 'interleaving',
    schedule: 'zero_bubble',
    recompute: 'recompute',
    zero: 'sharding',
    stage_layers: 'uneven_layers',
};

function leftOutBy(vary: string, catalog: Catalog): string {
    const field = catalog.fields.find(({ key }) => key === LEAVE_OUT);
    const kept = vary.split(',').map((id) => VARIED[id]);
    return field?.type === 'set'
        ? field.choices
              .map(({ id }) => id)
              .filter((id) => !kept.includes(id))
              .join(',')
        : '';
}

// A link of version 1 that sets a part of a plan shows the plan that it showed then. One that sets nothing is open in everything.
function fromVersion1(job: Open<Job>, given: ReadonlySet<FieldKey>, catalog: Catalog): { widened: boolean } {
    const older = catalog.fields.filter((field) => field.default_1 !== undefined);
    const ofPlan = new Set([...chosenKeys(catalog), ...PLAN_BESIDES]);
    const setsPlan = [...given].some((key) => ofPlan.has(key) && job[key] !== 'auto');
    if (setsPlan) for (const { key, default_1 } of older) if (!given.has(key)) job[key] = default_1 ?? '';
    return { widened: !setsPlan && older.length > 0 };
}

type ReadLink = Omit<ParsedLink, 'pins'> & { pinned: string[]; version: number };

// `version` is that of the link around a pin.
function readParams(params: URLSearchParams, catalog: Catalog, version: number = LINK_VERSION): ReadLink {
    const job: Open<Job> = { ...defaults(catalog) };
    const given = new Set<FieldKey>();
    const unknown: string[] = [];
    const pinned: string[] = [];
    const said = params.get('v') ?? '';
    const own = isWhole(said) ? Number(said) : version;
    const custom = params.get('model') === CUSTOM_MODEL;
    const ownGpu = params.get('gpu') === CUSTOM_GPU;
    if (ownGpu) job['gpu.base'] = String(job.gpu); // where the link does not say it
    for (const [name, text] of params) {
        const field = catalog.fields.find((one) => one.link === name);
        if (name === 'v' || VIEW_PARAMETERS.has(name)) continue;
        if (field) {
            job[field.key] = readField(field, text);
            given.add(field.key);
        } else if (isNamed(name)) job[name] = text;
        else if (name === PIN) pinned.push(text);
        else if (name === WITHOUT) {
            job[LEAVE_OUT] = [text, SINCE_WITHOUT].filter(Boolean).join(',');
            given.add(LEAVE_OUT);
        } else if (name === VARY && LEAVE_OUT in job) job[LEAVE_OUT] = (given.has(LEAVE_OUT) && job[LEAVE_OUT]) || leftOutBy(text, catalog);
        else if (custom && isConfigKey(name) && name.length > CONFIG_PREFIX.length) job[name] = readConfigValue(text);
        else if (ownGpu && readGpuPart(job, catalog, name, text)) continue;
        else if (!TRACKING.test(name)) unknown.push(name);
    }
    for (const field of catalog.fields) if (given.has(field.key)) job[field.key] = readTyped(catalog, field, job);
    const { widened } = own === 1 ? fromVersion1(job, given, catalog) : { widened: false };
    return { job, pinned, unknown, newer: own > LINK_VERSION, widened, version: own };
}

export function parseLink(query: string, catalog: Catalog): ParsedLink {
    const { pinned, version, ...link } = readParams(new URLSearchParams(query), catalog);
    const pins: Pin[] = [];
    for (const text of pinned) {
        const params = new URLSearchParams(text.replaceAll(';', '&'));
        const { job, unknown, pinned: inner, newer } = readParams(params, catalog, version);
        link.newer ||= newer;
        const pin = unknown.length + inner.length === 0 && isResolved(job, catalog) ? makePin(job, catalog) : null;
        if (!pin || (pins.length === MAX_PINS && !isPinned(pins, pin))) link.unknown.push(`${PIN}=${text.slice(0, MOST_NAMED)}`);
        else if (!isPinned(pins, pin)) pins.push(pin);
    }
    return { ...link, pins };
}

// Values that their fields can hold, and no degree left open. Whether such a plan is possible is the core's to say.
function isResolved(job: Job, catalog: Catalog): boolean {
    const holds = (field: Field): boolean => {
        const value = job[field.key];
        if (value === 'auto' && field.auto) return true;
        if (field.type === 'integer') return typeof value === 'number' || value === field.default;
        return typeof value === (field.type === 'number' || field.type === 'boolean' ? field.type : 'string');
    };
    return catalog.fields.every(holds) && DEGREES.every((key) => typeof job[key] === 'number');
}

function paramsOf(job: Job, catalog: Catalog): URLSearchParams {
    const initial = defaults(catalog);
    const names = new Map<string, string>(NAMED.map((key) => [key, key]));
    for (const field of catalog.fields) names.set(field.key, field.link);
    const order = [...NAMED.slice(0, 2), ...catalog.fields.map((field) => field.key), ...NAMED.slice(2)];
    const params = new URLSearchParams();
    for (const key of order) {
        const value = job[key];
        if (value === undefined || (value === initial[key] && !ALWAYS_WRITTEN.has(key))) continue;
        params.append(names.get(key) ?? key, String(value));
    }
    if (job.model === CUSTOM_MODEL) {
        for (const [key, value] of Object.entries(job)) if (isConfigKey(key)) params.append(key, writeConfigValue(value));
    }
    if (job.gpu === CUSTOM_GPU) {
        const parts = [
            ...GPU_TEXTS.map((key) => [key, key] as const),
            ...catalog.gpu_fields.map((one) => [one.link, gpuKey(one)] as const),
        ];
        for (const [name, key] of parts) {
            const value = job[key];
            if (value !== undefined && value !== null && value !== 'auto') params.append(name, String(value));
        }
    }
    return params;
}

// Commas may stand in a query as they are, and a set reads better with them: rcm=core_attn,layernorm
const written = (params: URLSearchParams): string => params.toString().replaceAll('%2C', ',');

export function formatLink(job: Job, catalog: Catalog, pins: readonly Pin[] = []): string {
    const parts = [`v=${LINK_VERSION}`, written(paramsOf(job, catalog))];
    // Of what a pin's text holds, only these two mean something else in a query.
    for (const { text } of pins) parts.push(`${PIN}=${text.replaceAll('%', '%25').replaceAll('+', '%2B')}`);
    return `?${parts.join('&')}`;
}

// A pin's values are escaped in its own text, so that & stands between its parts alone.
const makePin = (job: Job, catalog: Catalog): Pin => ({ text: written(paramsOf(job, catalog)).replaceAll('&', ';'), job });

export const isPinned = (pins: readonly Pin[], { text }: Pin): boolean => pins.some((pin) => pin.text === text);

// From the job of an answer, where every degree is a number and a pasted model stands as its config.
export type Answered = Readonly<JobRequest>;
export function pinOf(answered: Answered, catalog: Catalog): Pin {
    const keys = Object.keys(defaults(catalog));
    const scalar = ([key, value]: [string, Json]): boolean => keys.includes(key) && (value === null || typeof value !== 'object');
    const job = { ...defaults(catalog), ...Object.fromEntries(Object.entries(answered).filter(scalar)) } as Job;
    const { model, gpu } = answered;
    const named = typeof model === 'object' ? withConfig(job, model) : job;
    return makePin(typeof gpu === 'object' ? withGpu(named, gpu) : named, catalog);
}

// The Hugging Face config of a pasted model; null for a model of the catalogue.
export function configOf(job: Job): { [key: string]: Value | null } | null {
    if (job.model !== CUSTOM_MODEL) return null;
    const entries = Object.entries(job).filter(([key]) => isConfigKey(key));
    return Object.fromEntries(entries.map(([key, value]) => [key.slice(CONFIG_PREFIX.length), value]));
}

// A job with a pasted model in the place of its own. Nested values cannot stand in a link; the core's importer gives none.
export function withConfig(job: Job, config: { [key: string]: Json }): Job {
    const next: Open<Job> = { ...without(job, isConfigKey), model: CUSTOM_MODEL };
    for (const [key, value] of Object.entries(config)) {
        if (value === null || typeof value !== 'object') next[`${CONFIG_PREFIX}${key}`] = value;
    }
    return next;
}

// The numbers of the reader's own GPU; null for one of the catalogue.
export function ownGpuOf(job: Job): { [key: string]: Value | null } | null {
    if (job.gpu !== CUSTOM_GPU) return null;
    const entries = Object.entries(job).filter(([key]) => isGpuKey(key));
    return Object.fromEntries(entries.map(([key, value]) => [key.slice(GPU_PREFIX.length), value]));
}

// A job on the reader's own GPU. What is as the base has it is not written.
export function withGpu(job: Job, gpu: OwnGpu): Job {
    const next: Open<Job> = { ...without(job, isGpuKey), gpu: CUSTOM_GPU };
    for (const [key, value] of Object.entries(gpu)) if (value !== 'auto') next[gpuKey({ key })] = value;
    return next;
}

// The card of the catalogue that stands behind a GPU: itself, or what the reader's own is like.
export const baseOf = (gpu: JobRequest['gpu']): string => (typeof gpu === 'object' ? (gpu.base ?? '') : (gpu ?? ''));

const without = (job: Job, is: (key: string) => boolean): Plain => Object.fromEntries(Object.entries(job).filter(([key]) => !is(key)));

// Without what belongs to a model or a GPU of one's own that was given up.
export function inUse(job: Job): Job {
    const unused = (key: string): boolean => (isConfigKey(key) && job.model !== CUSTOM_MODEL) || (isGpuKey(key) && job.gpu !== CUSTOM_GPU);
    return without(job, unused);
}

// The request that the core takes. A value that a field cannot hold stays in it: the core says what is wrong.
export function request(job: Job): JobRequest {
    const { model, gpu, ...rest } = without(job, (key) => isConfigKey(key) || isGpuKey(key));
    const own = ownGpuOf(job) as unknown as OwnGpu | null; // as far as it is typed: the core says what is missing
    return { version: LINK_VERSION, ...rest, model: configOf(job) ?? model ?? '', gpu: own ?? gpu ?? '' };
}

// Of an estimate of which nobody reads how its numbers come about.
export const figures = (job: Job): JobRequest & { explain: false } => ({ ...request(job), explain: false });

export const DEGREES = ['tensor_parallel', 'pipeline_parallel', 'context_parallel', 'micro_batch'] as const satisfies readonly FieldKey[];
export const LEAVE_OUT = 'leave_out' satisfies FieldKey;
export const SEARCH = [LEAVE_OUT, 'risk'] as const satisfies readonly FieldKey[]; // what the search looks at
export const BUDGET = ['token_budget', 'price_per_gpu_hour', 'watts_per_gpu', 'grid_co2_per_kwh'] as const satisfies readonly FieldKey[];

// ---- what the core chooses
const NOT_SEARCHED: readonly FieldKey[] = ['gpus_per_node', ...BUDGET]; // "auto" is what is usual there

// Everything of a plan that the search chooses where nothing is said. An "auto" among a field's own choices is another thing: a habit of the
// framework; and what is 1 unless one asks for "auto" (token slices) stays as it is asked for.
export function chosenKeys({ fields }: Catalog): FieldKey[] {
    const isChoice = (field: Field): boolean => 'choices' in field && (field.choices ?? []).some(({ id }) => id === 'auto');
    return fields
        .filter((field) => field.default === 'auto' && !isChoice(field))
        .map(({ key }) => key)
        .filter((key) => !NOT_SEARCHED.includes(key));
}

export const allAuto = (catalog: Catalog): PlanRequest => Object.fromEntries(chosenKeys(catalog).map((key) => [key, 'auto']));
