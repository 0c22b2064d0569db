// The golden cases that the native tests run too (tests/golden/*.json), and how an answer is compared with one.
import { readdirSync, readFileSync } from 'node:fs';
import { root } from './module.mjs';

// [{name, function, request: text, response: value, columns?: {name: array}}]
export function goldenCases() {
    const folder = new URL('tests/golden/', root);
    return readdirSync(folder).filter((name) => name.endsWith('.json')).sort().flatMap((file) => {
        const content = JSON.parse(readFileSync(new URL(file, folder), 'utf8'));
        return [content].flat().map((one, index) => ({
            ...one,
            name: Array.isArray(content) ? `${file} [${index}]` : file,
            request: typeof one.request === 'string' ? one.request : JSON.stringify(one.request),
        }));
    });
}

// Calls one function of the core as the golden case says. `core` is the module.
export function ask(core, { function: name, request }) {
    if (['fields', 'gpu_fields', 'config_formats'].includes(name)) return { response: JSON.parse(core.catalog())[name] };
    const answer = name === 'place' ? core.place(request, null) : core[name](request);
    if (name !== 'search') return { response: JSON.parse(answer) };
    const columns = Object.fromEntries(Object.entries(answer.columns).map(([column, values]) => [column, Array.from(values)]));
    return { response: JSON.parse(answer.summary), columns };
}

// Every place where two JSON values differ. Numbers may differ by 1e-12 of their size (exp and pow differ between C libraries in the last
// bits); everything else, the set of keys included, must be the same.
export function differences(expected, actual, path = '') {
    if (typeof expected === 'number' && typeof actual === 'number') {
        const close = Math.abs(expected - actual) <= 1e-12 * Math.max(Math.abs(expected), Math.abs(actual));
        return close ? [] : [`${path}: expected ${expected}, got ${actual}`];
    }
    const isObject = (value) => typeof value === 'object' && value !== null;
    if (!isObject(expected) || !isObject(actual) || Array.isArray(expected) !== Array.isArray(actual)) {
        return Object.is(expected, actual) ? [] : [`${path}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`];
    }
    return [...new Set([...Object.keys(expected), ...Object.keys(actual)])].flatMap((key) => differences(expected[key], actual[key], `${path}/${key}`));
}
