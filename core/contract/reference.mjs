// The reference page: core/contract/api.md.
import { fieldsOf, nameOf, walk } from './load.mjs';

const anchor = (name) => name.toLowerCase().replace(/[^a-z0-9_-]/g, '');
const link = (name) => `[${name}](#${anchor(name)})`;
const code = (value) => `\`${JSON.stringify(value)}\``;
const prose = (text) => text.replaceAll('<', '&lt;');
const cell = (text) => text.replaceAll('|', '\\|');
const table = (head, rows) => [`| ${head.join(' | ')} |`, `|${' --- |'.repeat(head.length)}`, ...rows.map((row) => `| ${row.map(cell).join(' | ')} |`), ''];

function range({ minimum, maximum }) {
    if (minimum !== undefined && maximum !== undefined) return ` ${minimum} to ${maximum}`;
    return minimum !== undefined && minimum !== 0 ? ` from ${minimum}` : '';
}

// A type in words, with links to those that have a name.
function typeOf(schema) {
    if (schema.$ref) return link(nameOf(schema.$ref));
    if (schema.oneOf) return schema.oneOf.map(typeOf).join(' or ');
    if ('const' in schema) return code(schema.const);
    if (schema.enum || schema['x-catalog'])
        return [...(schema['x-catalog'] ? [`id of catalog().${schema['x-catalog']}`] : []), ...(schema.enum ?? []).map(code)].join(', ');
    const one = (type) => {
        if (type === 'array') return schema['x-array'] ?? (schema.items ? `list of ${typeOf(schema.items)}` : 'list');
        if (type === 'object') return typeof schema.additionalProperties === 'object' ? `by name: ${typeOf(schema.additionalProperties)}` : 'object';
        return `${type}${type === 'integer' || type === 'number' ? range(schema) : ''}`;
    };
    return [schema.type].flat().map(one).join(' or ');
}

const unitOf = (schema) => [...walk(schema)].map(([one]) => one['x-unit']).find(Boolean) ?? '';

function fieldsNote(contract, name, { only, without, required, auto, lists }) {
    const all = only ? only.map((key) => `\`${key}\``).join(', ') : `all [fields of a job](#fields)${without ? ` but ${without.map((key) => `\`${key}\``).join(', ')}` : ''}`;
    const open = auto === true ? '; `"auto"` where the field allows it' : Array.isArray(auto) ? `; \`"auto"\` in ${auto.map((key) => `\`${key}\``).join(', ')} alone` : '';
    if (fieldsOf(contract, { only, without }).length === 0) throw new Error(`${name}: no such fields`);
    return `${required ? 'It has' : 'It may have'} ${all}${lists ? ', each a list of values' : ''}${open}.`;
}

function definition(contract, name) {
    const schema = contract.defs[name];
    const lines = [`### ${name}`, '', `${schema['x-internal'] ? '*Internal: for the page alone.* ' : ''}${prose(schema.description)}`, ''];
    const parts = (schema.allOf ?? []).map(({ $ref }) => link(nameOf($ref)));
    if (parts.length > 0) lines.push(`All of ${parts.join(' and ')}${schema.properties ? ', and:' : '.'}`, '');
    if (schema['x-columns']) lines.push(`A list per key of ${link(nameOf(schema['x-columns'].$ref))}, each of the same length.`, '');
    if (schema['x-fields']) lines.push(fieldsNote(contract, name, schema['x-fields']), '');
    if (schema.properties) {
        const rows = Object.entries(schema.properties).map(([key, one]) => [
            `\`${key}\`${schema.required?.includes(key) ? '' : ' ?'}`, typeOf(one), unitOf(one), prose(one.description),
        ]);
        lines.push(...table(['key', 'type', 'unit', 'meaning'], rows));
    } else if (!schema['x-fields'] && !schema['x-columns'] && parts.length === 0) {
        lines.push(`${typeOf(schema)}${schema['x-names'] ? `: ${schema['x-names'].join(', ')}` : ''}`, '');
    }
    return lines;
}

function describeFunction(contract, file) {
    const { title, description } = file;
    const lines = [`## Function ${title}`, '', prose(description), ''];
    if (file['x-request']) lines.push(`**Request:** ${typeOf(file['x-request'])}`, '');
    lines.push(`**Answer:** ${typeOf(file['x-answer'])}`, '');
    if (file['x-progress']) lines.push(`**Progress:** ${typeOf(file['x-progress'])}`, '');
    for (const name of Object.keys(file.$defs)) lines.push(...definition(contract, name));
    return lines;
}

function describeFields(contract, words) {
    const values = (field) => {
        const auto = field.auto && field.default !== 'auto' && !field.choices?.some(({ id }) => id === 'auto') ? ', `"auto"`' : field.auto ? ' or `"auto"`' : '';
        if (field.type === 'choice') return field.choices.map(({ id }) => code(id)).join(', ') + auto;
        if (field.type === 'set') return `any of ${field.choices.map(({ id }) => `\`${id}\``).join(', ')}, with commas between${auto}`;
        if (field.type === 'text') return `a layout, ${field.choices.map(({ id }) => code(id)).join(', ')}${auto}`;
        return field.type === 'boolean' ? `true, false${auto}` : `${field.type} ${field.min} to ${field.max}${auto}`;
    };
    const rows = contract.fields.map((field) => [
        `\`${field.key}\``, values(field), words[`unit.${field.unit}`] ?? field.unit, code(field.default),
        `${words[`field.${field.key}`] ?? ''}. ${words[`field.${field.key}.help`] ?? ''}`.trim(),
    ]);
    return ['## Fields', '', 'What a job may say besides `version`, `model`, `gpu`, `cluster` and `method`; `catalog().fields` lists them for programs.', '',
        ...table(['key', 'values', 'unit', 'default', 'meaning'], rows)];
}

export function reference(contract, words) {
    const common = contract.files.common;
    return `${[
        '# What goes into Fourfold and what comes out',
        '',
        '<!-- Generated by core/contract/generate.mjs from core/contract/*.json: edit those. -->',
        '',
        'Every function takes JSON as UTF-8 text and answers JSON text; in C++ they are in `core/api.h`, in JavaScript functions of the module with the same names. None throws, none keeps state, and each',
        'answers the same for the same input. Nothing that a user can type is an error of the program: a mistake comes back as a list of problems (`"ok": false`).',
        '',
        'Keys that end in `_bytes` are bytes; a card of 80 GB has 80 times 2^30 of them. What is said in sentences is a [Text](#text): its id names a template in `core/data/words/<language>`. What has an',
        'id (an item, a group, a field, a rule, a unit) has words under that id: `item.weights`. A key with `?` may be absent. New keys may come without a new version, so let pass what you do not know.',
        '',
        `Functions: ${contract.functions.map(({ title }) => `[${title}](#function-${title})`).join(', ')}. Shared: [fields of a job](#fields), [shapes](#shared).`,
        '',
        ...contract.functions.flatMap((file) => describeFunction(contract, file)),
        ...describeFields(contract, words),
        '## Shared',
        '',
        common.description,
        '',
        ...Object.keys(common.$defs).flatMap((name) => definition(contract, name)),
        '## Internal',
        '',
        'For the page and the tests alone; these may change without a new version.',
        '',
        ...table(['function', 'what it does'], Object.entries(common['x-internal']).map(([name, does]) => [`\`${name}\``, prose(does)])),
    ].join('\n').trimEnd()}\n`;
}
