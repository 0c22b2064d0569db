// The page's state is one flat job, and a link is that job written out. Pure functions: no window, no history.
//   ?v=1&model=llama-3.1-8b&gpu=h100-sxm-80gb&gpus=8&seq=8192&batch=1024&tp=2
// A pasted model is model=custom and one model.<key> for each key of its config. Short names come from the catalogue's fields.
import type { Catalog, Field, Json } from './api';

export const LINK_VERSION = 1;
export const CUSTOM_MODEL = 'custom';

export type Value = string | number | boolean | null;
export type Job = Readonly<Record<string, Value>>;

export interface ParsedLink {
    job: Job;
    unknown: string[]; // keys that no version of the page has written: kept out, and said so
    newer: boolean; // made by a newer version of the page
}

const CONFIG_PREFIX = 'model.';
const NAMED = ['model', 'gpu', 'cluster', 'method'] as const; // keys that are their own short name
const ALWAYS_WRITTEN = new Set(['model', 'gpu', 'gpus', 'sequence_length', 'global_batch']);
const TRACKING = /^(utm_.*|fbclid|gclid|ref)$/; // appended by the sites that carry a link, not by its author

export const isConfigKey = (key: string): boolean => key.startsWith(CONFIG_PREFIX);

export function defaults(catalog: Catalog): Job {
    const job: Record<string, Value> = {
        model: 'llama-3.1-8b',
        gpu: 'h100-sxm-80gb',
        cluster: '',
        method: catalog.methods[0]?.id ?? 'detailed',
    };
    for (const field of catalog.fields) job[field.key] = field.default;
    return job;
}

const isWhole = (text: string): boolean => /^\d{1,15}$/.test(text);

const isDecimal = (text: string): boolean => /^-?\d{1,17}(\.\d+)?(e[-+]?\d{1,2})?$/.test(text);

// A text that the field cannot hold stays a text: the core says what is wrong with it, and the reader sees what was written.
function readField(field: Field, text: string): Value {
    if (field.type === 'integer' && isWhole(text)) return Number(text);
    if (field.type === 'number' && isDecimal(text)) return Number(text);
    if (field.type === 'boolean' && (text === 'true' || text === '1')) return true;
    if (field.type === 'boolean' && (text === 'false' || text === '0')) return false;
    return text;
}

function readConfigValue(text: string): Value {
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
const writeConfigValue = (value: Value): string =>
    typeof value === 'string' && readConfigValue(value) === value ? value : JSON.stringify(value);

export function parseLink(query: string, catalog: Catalog): ParsedLink {
    const job: Record<string, Value> = { ...defaults(catalog) };
    const unknown: string[] = [];
    let newer = false;
    const params = new URLSearchParams(query);
    const custom = params.get('model') === CUSTOM_MODEL;
    for (const [name, text] of params) {
        const field = catalog.fields.find((one) => one.link === name);
        if (name === 'v') newer = isWhole(text) && Number(text) > LINK_VERSION;
        else if (field) job[field.key] = readField(field, text);
        else if ((NAMED as readonly string[]).includes(name)) job[name] = text;
        else if (custom && isConfigKey(name) && name.length > CONFIG_PREFIX.length) job[name] = readConfigValue(text);
        else if (!TRACKING.test(name)) unknown.push(name);
    }
    return { job, unknown, newer };
}

export function formatLink(job: Job, catalog: Catalog): string {
    const initial = defaults(catalog);
    const names = new Map<string, string>(NAMED.map((key) => [key, key]));
    for (const field of catalog.fields) names.set(field.key, field.link);
    const order = [...NAMED.slice(0, 2), ...catalog.fields.map((field) => field.key), ...NAMED.slice(2)];
    const params: [string, string][] = [['v', String(LINK_VERSION)]];
    for (const key of order) {
        const value = job[key];
        if (value === undefined || (value === initial[key] && !ALWAYS_WRITTEN.has(key))) continue;
        params.push([names.get(key) ?? key, String(value)]);
    }
    if (job.model === CUSTOM_MODEL) {
        for (const [key, value] of Object.entries(job)) if (isConfigKey(key)) params.push([key, writeConfigValue(value)]);
    }
    // Commas may stand in a query as they are, and a set reads better with them: rcm=core_attn,layernorm
    return `?${new URLSearchParams(params).toString().replaceAll('%2C', ',')}`;
}

// The Hugging Face config of a pasted model; null for a model of the catalogue.
export function configOf(job: Job): Record<string, Value> | null {
    if (job.model !== CUSTOM_MODEL) return null;
    const entries = Object.entries(job).filter(([key]) => isConfigKey(key));
    return Object.fromEntries(entries.map(([key, value]) => [key.slice(CONFIG_PREFIX.length), value]));
}

// A job with a pasted model in the place of its own. Nested values cannot stand in a link; the core's importer gives none.
export function withConfig(job: Job, config: { [key: string]: Json }): Job {
    const next: Record<string, Value> = { ...withoutConfig(job), model: CUSTOM_MODEL };
    for (const [key, value] of Object.entries(config)) {
        if (value === null || typeof value !== 'object') next[CONFIG_PREFIX + key] = value;
    }
    return next;
}

export function withoutConfig(job: Job): Job {
    return Object.fromEntries(Object.entries(job).filter(([key]) => !isConfigKey(key)));
}

// The request that the core takes.
export function request(job: Job): Record<string, Json> {
    const { model, ...rest } = withoutConfig(job);
    return { version: LINK_VERSION, model: configOf(job) ?? model ?? '', ...rest };
}

export const DEGREES = ['tensor_parallel', 'pipeline_parallel', 'context_parallel', 'micro_batch'] as const;
export const BUDGET = ['token_budget', 'price_per_gpu_hour', 'watts_per_gpu'] as const;
export const AUTO_DEGREES: Job = Object.fromEntries(DEGREES.map((key) => [key, 'auto']));
