// Words are data: the core writes no sentence, every id that it can say has words in every language, and no words are left over.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path) => readFileSync(join(root, path), 'utf8');
const LANGUAGES = ['en', 'ja', 'zh'];
const listsOf = (language) => readdirSync(join(root, 'core/data/words', language)).map((file) => JSON.parse(read(`core/data/words/${language}/${file}`)));
const wordsOf = (language) => Object.assign({}, ...listsOf(language));
const english = wordsOf('en');
const sources = readdirSync(join(root, 'core'), { recursive: true }).filter((name) => /\.(cpp|h)$/.test(name));
// The literals of a file, adjacent ones joined, without comments and includes.
const literals = (text) =>
    [...text.replace(/^#include.*$/gm, '').replace(/("(?:[^"\\\n]|\\.)*")|\/\/[^\n]*/g, '$1').replace(/"\s*\n?\s*"/g, '').matchAll(/"((?:[^"\\\n]|\\.)*)"/g)].map(
        ([, literal]) => literal,
    );
const perFile = new Map(sources.map((name) => [name, literals(read(`core/${name}`))]));
// ("key|link|unit" of a field: base/fields.h)
const all = new Set([...perFile.values()].flat().flatMap((text) => (/^[a-z0-9_]+(\|[a-z0-9_.-]+)+$/.test(text) ? text.split('|') : text)));

// Families whose ids are put together from the id of a row: its last parts stand in the code.
const OF_ROWS = /^(field|choice|item|group|time|rate|method|limit|rule|place|symbol|part|unit|band|evidence|launcher|unit_source|read_run\.quantity)\./;
const ENDS = /\.(help|summary|differs|of)$/;

test('every language has every id', () => {
    for (const language of LANGUAGES) {
        const words = wordsOf(language);
        assert.deepEqual(Object.keys(english).filter((id) => !(id in words)), [], language);
        assert.deepEqual(Object.keys(words).filter((id) => !(id in english)), [], language);
    }
});

test('an id stands once in a language', () => {
    for (const language of LANGUAGES) {
        const ids = listsOf(language).flatMap(Object.keys);
        assert.deepEqual(ids.filter((id, i) => ids.indexOf(id) !== i), [], language);
    }
});

test('the core says no id without words', () => {
    const families = new Set(Object.keys(english).map((id) => id.split('.')[0]));
    const known = (id) => id in english || Object.keys(english).some((one) => one.startsWith(`${id}.`)); // the beginning of one
    // Readers and writers of configurations name keys of other programs, "model.flavor".
    const foreign = (file, literal) => /^formats\/(read\/|write\/|keys|python\/|megatron\/read)/.test(file) && !/^(import_plan|export|problem|suggestion)\./.test(literal);
    const said = [...perFile].flatMap(([file, texts]) => texts.filter((literal) => !foreign(file, literal)));
    const unknown = said.filter((literal) => /^[a-z_]+(\.[a-z0-9_-]+)+$/.test(literal) && families.has(literal.split('.')[0]) && !known(literal));
    assert.deepEqual(unknown, []);
});

test('no words are left over', () => {
    const data = readdirSync(join(root, 'core/data'), { recursive: true }).filter((name) => /(gpus|clusters|models)\/.*\.json$/.test(name));
    const ids = new Set([...all, ...data.flatMap((name) => literals(read(`core/data/${name}`)))]);
    const page = readdirSync(join(root, 'web/src'), { recursive: true }).filter((name) => /\.tsx?$/.test(name)).map((name) => read(`web/src/${name}`)).join('\n');
    const said = (id) => ids.has(id) || page.includes(`'${id}'`) || (OF_ROWS.test(id) && ids.has(id.replace(ENDS, '').split('.').slice(1).at(-1)));
    const begun = (id) => [...ids].some((literal) => literal.endsWith('.') && id.startsWith(literal)) || ids.has(id.slice(0, id.lastIndexOf('.'))) ;
    assert.deepEqual(Object.keys(english).filter((id) => !said(id) && !begun(id)), []);
});

test('no sentence stands in the core', () => {
    // Titles of papers and of what other programs print are names, and so are their commands.
    const names = /^(phases\/sources|memory\/memory|formats\/printed\/(steps|memory|death))\.(cpp|h)$/;
    const printed = ['Collective test starting', '$(scontrol show hostnames \\"$SLURM_JOB_NODELIST\\" | head -n 1)', 'nemo llm pretrain --factory '];
    const sentences = [...perFile].flatMap(([name, texts]) =>
        names.test(name) ? [] : texts.filter((text) => /[a-z]{2,} [a-z]{2,} [a-z]{2,}/.test(text) && !printed.includes(text)).map((text) => `${name}: ${text}`),
    );
    assert.deepEqual(sentences, []);
});
