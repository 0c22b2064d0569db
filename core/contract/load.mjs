// Reads the contract: one JSON Schema per function in this folder, and what they share. README.md says what the keys mean.
import { readdirSync, readFileSync } from 'node:fs';

const folder = new URL('.', import.meta.url);
const root = new URL('../../', folder);
const json = (path) => JSON.parse(readFileSync(new URL(path, root), 'utf8'));

// In the order of the reference page.
export const FUNCTIONS = [
    'catalog', 'import_config', 'estimate', 'alternatives', 'timeline', 'import_plan', 'find_models', 'read_run', 'export_plan', 'search', 'rank', 'versus', 'limits', 'phases', 'pools', 'calibrate', 'read_links', 'place',
];

// "common.json#/$defs/Text" -> "Text": names are unique over all files.
export const nameOf = ($ref) => $ref.slice($ref.lastIndexOf('/') + 1);

// {functions: [file], defs: {name: schema}, home: {name: file}, fields: [of the catalogue]}
export function load() {
    const files = Object.fromEntries(['common', ...FUNCTIONS].map((name) => [name, json(`core/contract/${name}.json`)]));
    const defs = {}, home = {};
    for (const [file, { $defs }] of Object.entries(files)) {
        for (const [name, schema] of Object.entries($defs)) {
            if (name in defs) throw new Error(`${name} stands in ${home[name]}.json and in ${file}.json`);
            defs[name] = schema;
            home[name] = file;
        }
    }
    const fields = json('tests/golden/fields.json').response;
    return { files, functions: FUNCTIONS.map((name) => files[name]), defs, home, fields };
}

// The English sentences: {id: template}.
export function words() {
    const all = {};
    for (const name of readdirSync(new URL('core/data/words/', root), { recursive: true })) {
        if (/^en(\.json|\/.*\.json)$/.test(name)) Object.assign(all, json(`core/data/words/${name}`));
    }
    return all;
}

// The fields that an object has by "x-fields".
export function fieldsOf(contract, { only, without = [] }) {
    return contract.fields.filter(({ key }) => (only ? only.includes(key) : !without.includes(key)));
}

// Every schema inside of one, itself first, with the path to it.
export function* walk(schema, path = '') {
    yield [schema, path];
    for (const [key, property] of Object.entries(schema.properties ?? {})) yield* walk(property, `${path}.${key}`);
    for (const key of ['items', 'additionalProperties']) if (typeof schema[key] === 'object') yield* walk(schema[key], `${path}[]`);
    for (const branch of [...(schema.oneOf ?? []), ...(schema.allOf ?? [])]) yield* walk(branch, path);
}

// Names of the schemas that one leads to, itself included.
export function reach(contract, schema, found = new Set()) {
    for (const [one] of walk(schema)) {
        for (const { $ref } of [one, one['x-columns'] ?? {}]) {
            if (!$ref || found.has(nameOf($ref))) continue;
            found.add(nameOf($ref));
            reach(contract, contract.defs[nameOf($ref)], found);
        }
    }
    return found;
}
