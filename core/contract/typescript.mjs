// Requests and answers as TypeScript: web/src/core/api.ts, formatted as the page's linter wants it.
import { nameOf, reach } from './load.mjs';

const WIDTH = 140;
const SCALAR = 'string | number | boolean';
const PRIMITIVES = { integer: 'number', number: 'number', string: 'string', boolean: 'boolean', null: 'null' };

const literal = (value) => (typeof value === 'string' ? `'${value}'` : String(value));
const unique = (list) => [...new Set(list)];
const firstSentence = (text) => text.match(/^.*?[.](?= |$)/)?.[0] ?? text;
const listOf = (type) => (type.includes(' | ') && !type.endsWith('[]') ? `(${type})[]` : `${type}[]`);

function union(schema, contract) {
    if (schema.oneOf) return unique(schema.oneOf.flatMap((branch) => union(branch, contract)));
    if (schema.$ref) {
        const target = contract.defs[nameOf(schema.$ref)];
        const isOrNull = target.oneOf?.some(({ type }) => type === 'null');
        return isOrNull ? union(target, contract) : [nameOf(schema.$ref)];
    }
    if ('const' in schema) return [literal(schema.const)];
    if (schema['x-catalog']) return ['string'];
    if (schema['x-field']) return ['FieldKey'];
    if (schema.enum) return schema.enum.map(literal);
    if (schema['x-array']) return [schema['x-array']];
    const types = [schema.type].flat();
    return unique(types.map((type) => PRIMITIVES[type] ?? (type === 'array' ? list(schema, contract) : dictionary(schema, contract))));
}

function list(schema, contract) {
    const items = union(schema.items, contract).join(' | ');
    return schema['x-names'] ? `[${schema['x-names'].map((name) => `${name}: ${items}`).join(', ')}]` : listOf(items);
}
const dictionary = ({ additionalProperties: of }, contract) =>
    `{ [key: string]: ${typeof of === 'object' ? union(of, contract).join(' | ') : 'Json'} }`;

// The keys of the fields of a job that an object has: some, or all but some.
function keysOf(name, { only, without }) {
    if (only) return alias(`${name}Key`, only.map(literal));
    const line = `export type ${name}Key = Exclude<FieldKey, ${without.map(literal).join(' | ')}>;`;
    if (line.length <= WIDTH) return [line];
    const keys = `    ${without.map(literal).join(' | ')}`;
    if (keys.length <= WIDTH) return [`export type ${name}Key = Exclude<`, '    FieldKey,', keys, '>;'];
    return [`export type ${name}Key = Exclude<`, '    FieldKey,', ...without.map((key) => `    | ${literal(key)}`), '>;'];
}

// Whatever a field may hold: the core says what is wrong with it.
function record(name, { 'x-fields': fields, properties = {}, required = [] }, contract) {
    const all = !fields.only && !fields.without;
    const optional = fields.required ? '' : '?';
    const named = `{ [key in ${all ? 'FieldKey' : `${name}Key`}]${optional}: ${fields.lists ? listOf(SCALAR) : SCALAR} }`;
    const members = Object.entries(properties).map(([key, one]) => member(key, one, required.includes(key), contract));
    const rest = members.length > 0 ? [`export type ${name} = ${named} & {`, ...members, '};'] : [`export type ${name} = ${named};`];
    return [...(all ? [] : keysOf(name, fields)), ...rest];
}

function member(key, schema, isRequired, contract) {
    const type = union(schema, contract).join(' | ');
    const unit = schema['x-unit'] ?? schema.items?.['x-unit'];
    const says = /(^|_)(bytes|seconds|days|steps|hours|gpus|s|us|gib|kwh)(_|$)/.test(key); // the key says its unit
    return `    ${key}${isRequired ? '' : '?'}: ${type};${unit && !says ? ` // ${unit}` : ''}`;
}

function alias(name, types) {
    const line = `export type ${name} = ${types.join(' | ')};`;
    return line.length <= WIDTH ? [line] : [`export type ${name} =`, ...types.map((type, i) => `    | ${type}${i === types.length - 1 ? ';' : ''}`)];
}

function definition(name, contract) {
    const schema = contract.defs[name];
    if (schema['x-columns']) {
        const row = nameOf(schema['x-columns'].$ref);
        return [`export type ${name} = { [key in keyof ${row}]?: ${row}[key][] };`];
    }
    if (schema['x-fields']) return record(name, schema, contract);
    if (!schema.properties && !schema.allOf) return alias(name, union(schema, contract));
    // Types and no interfaces, so that an answer goes where any JSON goes.
    const { properties = {}, required = [], allOf = [] } = schema;
    const [first, second] = allOf.map(({ $ref }) => `${nameOf($ref)} &`);
    const members = Object.entries(properties).map(([key, one]) => member(key, one, required.includes(key), contract));
    const deeper = second ? '    ' : '';
    const opens = second ? [`export type ${name} = ${first}`, `    ${second} {`] : [`export type ${name} = ${first ? `${first} ` : ''}{`];
    return [...opens, ...members.map((line) => deeper + line), `${deeper}};`];
}

// The programs whose scripts and recipes import_plan() reads, each once, as JSON.
export const programs = (contract) => `${JSON.stringify(unique(Object.values(contract.defs.ImportFormat['x-programs']).flat()), null, 4)}\n`;

// The types of all that a function takes and answers.
export function typescript(contract) {
    const found = new Set();
    for (const one of contract.functions) for (const key of ['x-request', 'x-answer', 'x-progress']) if (one[key]) reach(contract, one[key], found);
    found.add('SearchColumns');
    const inlined = (name) => contract.defs[name].oneOf?.some(({ type }) => type === 'null');
    const lines = [
        '// Generated by core/contract/generate.mjs from core/contract/*.json: what goes into the functions of the core and what comes out,',
        '// as types. core/contract/api.md says what each key means. Behind a member stands its unit where its key does not say it.',
        '',
        'export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };',
        '',
        '// A field of a job, as catalog() lists them.',
        ...alias('FieldKey', contract.fields.map(({ key }) => literal(key))),
    ];
    for (const name of Object.keys(contract.defs)) {
        if (!found.has(name) || inlined(name)) continue;
        lines.push('', `// ${firstSentence(contract.defs[name].description)}`, ...definition(name, contract));
    }
    lines.push('', '// What each function takes.', 'export interface Requests {');
    for (const { title, 'x-request': request } of contract.functions) if (request) lines.push(`    ${title}: ${union(request, contract).join(' | ')};`);
    lines.push('}', '', '// What each function answers.', 'export interface Answers {');
    for (const { title, 'x-answer': answer } of contract.functions) lines.push(`    ${title}: ${union(answer, contract).join(' | ')};`);
    lines.push('}', '', '// The module: JSON text in, JSON text out.', 'export interface Fourfold {');
    for (const one of contract.functions) {
        const { takes, gives } = one['x-javascript'] ?? { takes: one['x-request'] ? ['request: string'] : [], gives: 'string' };
        const line = `    ${one.title}(${takes.join(', ')}): ${gives};`;
        lines.push(...(line.length <= WIDTH ? [line] : [`    ${one.title}(`, ...takes.map((one) => `        ${one},`), `    ): ${gives};`]));
    }
    return `${[...lines, '}'].join('\n')}\n`;
}
