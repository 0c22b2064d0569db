// What the page says in English for an id of the words, and for a text of the core: for the tests that hold the page against an answer.
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { root } from '../module.mjs';

const MessageFormat = createRequire(new URL('web/package.json', root))('@messageformat/core');
const read = (path) => JSON.parse(readFileSync(new URL(path, root), 'utf8'));
const folder = 'core/data/words/en/';
const words = Object.assign(read('web/src/words/en.json'), ...readdirSync(new URL(folder, root)).map((file) => read(folder + file)));
const count = (value) => value.toLocaleString('en');
const plain = String;
const formats = new MessageFormat('en', {
    customFormatters: { count, number: count, percent: plain, bytes: plain, seconds: plain, rate: plain, flops: plain, list: (all) => all.join(', ') },
});

export const say = (id, args = {}) => formats.compile(words[id])(args).replace(/\s+/g, ' ').trim();
export const tell = (text) =>
    say(text.id, Object.fromEntries(Object.entries(text.args ?? {}).map(([name, arg]) => [name, arg?.id ? tell(arg) : arg])));
