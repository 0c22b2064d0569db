// How far the estimates are from measured runs is told by tests/evidence/table.json alone: README states its numbers, and no text beside
// it has numbers of its own.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { accuracy, BEGIN, END, readme, table, written } from '../evidence/readme.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const PERCENT = /\d\s?%/;

// The text around the list, as bullets and paragraphs.
const around = () => {
    const text = readme();
    return (text.slice(0, text.indexOf(BEGIN)) + text.slice(text.indexOf(END) + END.length)).split(/\n(?=- |\n|#|\|)/).map((part) => part.replaceAll('\n', ' ').trim());
};

test('README states the table: node tests/evidence/readme.mjs writes it', () => {
    assert.equal(readme(), written(readme(), table()));
});

test('the list has every family of the table', () => {
    const { time, memory } = table();
    const rows = (text) => text.match(/^\| \[/gm)?.length;
    const [times, memories] = accuracy(table()).split('- Peak memory');
    assert.equal(rows(times), Object.keys(time).length);
    assert.equal(rows(memories), Object.keys(memory).length);
    const some = { 'some-family': { rows: 3, mean: 0.0123, most: 0.2, standing: 'blind' } };
    assert.match(accuracy({ ...table(), memory: some }), /some-family \| 3 \| 1\.2 % \| 20\.0 % \| blind/);
});

test('elsewhere in README a percentage stands only where the test that holds it is named', () => {
    const rooms = table().memory ? 'placement|calibration' : 'memory|placement|calibration';
    const named = new RegExp(`tests/(?:${rooms})/\\w+\\.cpp`, 'g');
    const holds = (part) => (part.match(named) ?? []).some((path) => existsSync(join(root, path)));
    assert.deepEqual(around().filter((part) => PERCENT.test(part) && !holds(part)), []);
});

test('every test that README names is there', () => {
    const paths = readme().match(/tests\/[\w/-]+\.(?:cpp|h|mjs|json)/g) ?? [];
    assert.deepEqual(paths.filter((path) => !existsSync(join(root, path))), []);
});

// The line of the first paper, and what it leaves to the rest of the card.
const LINE = /(?<![\d.])(80|20)\s?%/g;

test('the methods tell no accuracy of their own', () => {
    const folder = join(root, 'core/data/words');
    const told = readdirSync(folder).flatMap((language) =>
        Object.entries(JSON.parse(readFileSync(join(folder, language, 'methods.json'), 'utf8')))
            .filter(([, text]) => PERCENT.test(text.replaceAll(LINE, '')))
            .map(([id]) => `${language}: ${id}`),
    );
    assert.deepEqual(told, []);
});
