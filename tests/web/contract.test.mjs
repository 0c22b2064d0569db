// The contract in core/contract is complete and tidy, and what is generated from it is up to date. That the core keeps it is checked in C++.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { generated } from '../../core/contract/generate.mjs';
import { load, nameOf, reach, walk } from '../../core/contract/load.mjs';

const root = new URL('../../', import.meta.url);
const text = (path) => readFileSync(new URL(path, root), 'utf8');
const contract = load();
const schemas = Object.entries(contract.files).flatMap(([file, { $defs, 'x-request': request, 'x-answer': answer }]) => [
    ...Object.entries($defs).map(([name, schema]) => ({ file, name, schema })),
    ...[request, answer].filter(Boolean).map((schema) => ({ file, name: '', schema })),
]);
// Every schema inside of every other one, as {file, path, schema}.
const all = schemas.flatMap(({ file, name, schema }) => [...walk(schema)].map(([one, path]) => ({ file, path: `${file}: ${name}${path}`, schema: one })));
const paths = (wrong) => wrong.map(({ path }) => path);

test('what is generated from it is up to date: node core/contract/generate.mjs', () => {
    for (const [path, wanted] of Object.entries(generated())) assert.ok(text(path) === wanted, `${path} is not what the contract says`);
});

test('it has the functions of core/api.h and of the module, and no other ones', () => {
    const internal = Object.keys(contract.files.common['x-internal']).map((name) => name.replace(/\(.*/, ''));
    const wanted = [...contract.functions.map(({ title }) => title), ...internal].sort();
    const declared = [...text('core/api.h').matchAll(/^(?:std::string|SearchAnswer|double) (\w+)\(/gm)].map(([, name]) => name);
    const bound = [...(text('wasm/bindings.cpp') + text('wasm/bindings_formats.cpp')).matchAll(/function\("(\w+)"/g)].map(([, name]) => name);
    assert.deepEqual([...new Set(declared)].sort(), wanted);
    assert.deepEqual([...new Set(bound)].sort(), wanted);
    // The program without Node answers in texts alone.
    const native = [...text('web/src/native/core.cpp').matchAll(/set\(context, core, "(\w+)"/g)].map(([, name]) => name);
    assert.deepEqual(native.sort(), wanted.filter((name) => name !== 'search' && !internal.includes(name)));
});

test('a reference names what is there, in this file or another one', () => {
    const wrong = all.filter(({ file, schema: { $ref } }) => {
        if ($ref === undefined) return false;
        const [, place = file, name] = $ref.match(/^(?:(\w+)\.json)?#\/\$defs\/(\w+)$/) ?? [];
        return contract.home[name] !== place;
    });
    assert.deepEqual(paths(wrong), []);
});

test('every schema leads from a function', () => {
    const found = new Set(['SearchColumns']);
    for (const one of contract.functions) {
        for (const key of ['x-request', 'x-answer', 'x-progress']) if (one[key]) reach(contract, one[key], found);
    }
    assert.deepEqual(Object.keys(contract.defs).filter((name) => !found.has(name)), []);
});

test('only keywords that the checks know are used, and those of core/contract/README.md', () => {
    const explained = text('core/contract/README.md');
    const known = /^(type|const|enum|minimum|maximum|minLength|minItems|maxItems|items|properties|required|additionalProperties|oneOf|allOf|\$ref|description)$|^x-/;
    for (const { path, schema } of all) {
        for (const keyword of Object.keys(schema)) {
            assert.match(keyword, known, path);
            assert.ok(explained.includes(`\`${keyword}\``), `${keyword} of ${path} stands in no README`);
        }
        if (schema.$ref) assert.deepEqual(Object.keys(schema).filter((key) => key !== '$ref' && key !== 'description'), [], path);
        const nested = schema.properties && !schemas.some((one) => one.schema === schema);
        assert.ok(!nested, `${path} is an object with keys inside of another one`);
    }
});

test('everything has a description, every number that is no count a unit', () => {
    const named = schemas.filter(({ name }) => name !== '').map(({ file, name, schema }) => ({ path: `${file}: ${name}`, schema }));
    const members = named.flatMap(({ path, schema }) =>
        Object.entries(schema.properties ?? {}).map(([key, one]) => ({ path: `${path}.${key}`, schema: one })),
    );
    assert.deepEqual(paths([...named, ...members].filter(({ schema }) => !/[.,]$|; or$/.test(schema.description ?? '') && !/between this$/.test(schema.description ?? ''))), []);
    const mayLack = /\.(value|nearest|default|default_1|min|max|probability)$/; // their unit is another key's to say, or they have none
    const bare = members.filter(({ path, schema }) => {
        const number = [...walk(schema)].some(([one]) => [one.type].flat().includes('number') && !('x-unit' in one));
        return number && !mayLack.test(path);
    });
    assert.deepEqual(paths(bare), []);
});

test('required keys are there, fields are those of the catalogue', () => {
    const keys = contract.fields.map(({ key }) => key);
    for (const { path, schema } of all) {
        for (const key of schema.required ?? []) assert.ok(key in (schema.properties ?? {}), `${path} has no ${key}`);
        const { only = [], without = [], auto } = schema['x-fields'] ?? {};
        for (const key of [...only, ...without, ...(Array.isArray(auto) ? auto : [])]) assert.ok(keys.includes(key), `${path}: no field ${key}`);
    }
});

test('an answer says whether it succeeded, and its version', () => {
    for (const { title, 'x-answer': answer } of contract.functions) {
        if (title === 'catalog') continue;
        const branches = (schema) => (schema.oneOf ? schema.oneOf.flatMap(branches) : schema.$ref ? named(nameOf(schema.$ref)) : [schema]);
        const named = (name) => (contract.defs[name].oneOf ? branches(contract.defs[name]) : [name]);
        const keysOf = (name) => [
            ...(contract.defs[name].allOf ?? []).flatMap(({ $ref }) => keysOf(nameOf($ref))),
            ...Object.keys(contract.defs[name].properties ?? {}),
        ];
        for (const name of branches(answer)) for (const key of ['ok', 'version']) assert.ok(keysOf(name).includes(key), `${name} has no ${key}`);
    }
});
