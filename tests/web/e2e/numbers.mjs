// The numbers that the page must show are those of the golden answers, and of the module itself; the page's own rounding is what is tested.
import { readFileSync } from 'node:fs';
import { loadModule, root } from '../module.mjs';
import { words } from './words.mjs';

const json = (path) => JSON.parse(readFileSync(new URL(path, root), 'utf8'));

export const answerOf = (name) => json(`tests/golden/${name}.json`).response;
export const llama = json('core/data/models/llama-3.1-8b.json').config;

let core;
export async function asked(name, job = {}) {
    core ??= await loadModule();
    return JSON.parse(core[name](JSON.stringify({ version: 2, ...job })));
}
export async function catalog() {
    core ??= await loadModule();
    return JSON.parse(core.catalog());
}

export const gib = (bytes) => (bytes / 2 ** 30).toFixed(2);
export const grouped = (count) => count.toLocaleString('en');
export const three = (value) => value.toLocaleString('en', { minimumSignificantDigits: 3, maximumSignificantDigits: 3 });
// 108.5 s is "1 min 49 s".
export const minutes = (seconds) => `${Math.floor(Math.round(seconds) / 60)} min ${Math.round(seconds) % 60} s`;
export const daysOf = ({ tokens_per_step }, seconds, tokens) => three((Math.ceil(tokens / tokens_per_step) * seconds) / 86400);
// "66 of its 80 GB"
export const used = ({ whole_bytes }) => words.used(Math.round(whole_bytes / 2 ** 30), 80);
export const fourStages = '?v=1&model=llama-3.1-70b&gpu=h100-sxm-80gb&gpus=64&pp=4&tp=8&mb=1';
