// The only place where the page says something: a sentence of words/en.json by its id, or a text of the core.
import catalogues from 'virtual:words';
import type { Text, TextArg } from '../core/api';
import { format } from '../format/format';
import type { Words } from './ids';
import type { Language } from './language';
import { PARTS, type Part } from './parts';

export type WordId = keyof Words;
type Given<Id extends WordId> = Words[Id] extends null ? [] : [args: Words[Id]];

type Table = Readonly<Record<string, string | ((args: Readonly<Record<string, unknown>>) => string)>>;
type Fetched = Partial<Record<Part, Table>>;

let language: Language = 'en';
let fetched: Fetched = {};
let words: Table = {};

export const spoken = (): Language => language;

async function fetchPart(of: Language, part: Part): Promise<Table> {
    const parts = (await catalogues[of]?.())?.default;
    return (await parts?.[part]?.())?.default ?? {};
}

function take(next: Language, tables: Fetched): void {
    language = next;
    fetched = tables;
    words = Object.assign({}, ...Object.values(tables));
}

// Whatever comes after the first screen names fields, choices and items.
const UNNAMED: readonly Part[] = ['built', 'first', 'share'];
const withNames = (parts: readonly Part[]): Part[] =>
    parts.every((part) => UNNAMED.includes(part)) ? [...parts] : [...new Set<Part>(['names', ...parts])];

// With the views that say them, in the language of the page.
export async function fetchWords(...parts: readonly Part[]): Promise<void> {
    const missing = withNames(parts).filter((part) => !fetched[part]);
    const now = language;
    const tables = await Promise.all(missing.map((part) => fetchPart(now, part)));
    if (now !== language) return fetchWords(...parts); // meanwhile the reader chose another one
    take(language, { ...fetched, ...Object.fromEntries(missing.map((part, i) => [part, tables[i] ?? {}])) });
}

export const hasWords = (part: Part): boolean => part in fetched;

// Another language, with all the parts that are there already.
export async function speak(next: Language): Promise<void> {
    const wanted = (): Part[] => PARTS.filter((part) => part === 'first' || fetched[part]);
    const parts = wanted();
    const tables = await Promise.all(parts.map((part) => fetchPart(next, part)));
    if (wanted().length > parts.length) return speak(next); // meanwhile a view came
    take(next, Object.fromEntries(parts.map((part, i) => [part, tables[i] ?? {}])));
}

function sentence(id: string, args: Readonly<Record<string, unknown>>): string {
    const found = words[id];
    return typeof found === 'function' ? found(args) : (found ?? id);
}

export function say<Id extends WordId>(id: Id, ...[args]: Given<Id>): string {
    return sentence(id, args ?? {});
}

const inSentence = (arg: TextArg): unknown => {
    if (Array.isArray(arg)) return arg.map(inSentence);
    return arg !== null && typeof arg === 'object' ? tell(arg as Text) : arg;
};

// A text of the core. One that no catalogue knows is told by its id.
export function tell(said: Text | null | undefined): string {
    if (said === null || said === undefined) return '';
    return sentence(said.id, Object.fromEntries(Object.entries(said.args ?? {}).map(([name, arg]) => [name, inSentence(arg)])));
}

// Is there a sentence of that id? For words that not everything of a kind has.
export const isSaid = (id: string): boolean => id in words;

// Whole sentences after one another, and names in a row, as the language parts them.
type Perhaps = string | false | null | undefined;
export const sentences = (...all: readonly Perhaps[]): string => all.filter(Boolean).join(say('glue.sentence'));
export const listed = (names: readonly Perhaps[]): string => names.filter(Boolean).join(say('glue.list'));
// What is more than a name, in a sentence; a language that joins it otherwise than names says with what.
export const clauses = (all: readonly string[]): string => (say('glue.clauses') ? all.join(say('glue.clauses')) : format.enumerate(all));

// ---- sentences with controls or links in them
export type SentencePart = string | { slot: string } | { tag: string; inside: SentencePart[] };

const MARK = '\uE000'; // around the name of a slot: no text of ours has it
const PIECE = new RegExp(`${MARK}(\\w+)${MARK}|<(/?)(\\w+)>`, 'g');

// The sentence cut at its slots, in the order of the language; <tag>…</tag> in a template encloses a part of it. Slots are arguments
// without a format.
export function partsOf(id: WordId, slots: readonly string[], args: Readonly<Record<string, unknown>> = {}): SentencePart[] {
    const text = sentence(id, { ...args, ...Object.fromEntries(slots.map((name) => [name, MARK + name + MARK])) });
    const open: SentencePart[][] = [[]];
    const add = (part: SentencePart): void => {
        if (part !== '') open.at(-1)?.push(part);
    };
    let from = 0;
    for (const { 0: piece, 1: slot, 2: end, 3: tag = '', index } of text.matchAll(PIECE)) {
        add(text.slice(from, index));
        from = index + piece.length;
        if (slot !== undefined) add({ slot });
        else if (end === '') open.push([]);
        else add({ tag, inside: open.pop() ?? [] });
    }
    add(text.slice(from));
    return open.flat();
}
