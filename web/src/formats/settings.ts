// A configuration as the core reads it: YAML, TOML and JSON as a list of settings with the paths of their keys, anything else as it is.
import type { Tags } from 'yaml';
import type { ImportPlanRequest, Problem, Setting } from '../core/api';
import { jsonStopsAt } from './json-place';

type Format = 'yaml' | 'toml' | 'json' | 'text';
type Scalar = Setting['value'];
export type Read = { request: ImportPlanRequest } | { problems: Problem[] };

const MOST_BYTES = 1_000_000;
const MOST_SETTINGS = 20_000;
const DEEPEST = 50;
const MOST_OPEN = 300; // brackets, those of texts and comments too
const LONGEST_KEY = 500;
const LONGEST_LIST = 500;

const problem = (rule: string, id: string, args: Record<string, string | number> = {}): { problems: Problem[] } => ({
    problems: [{ field: 'text', rule, value: null, message: { id, args }, suggestion: null, nearest: null }],
});
const brokenAt = (format: Format, line: number, column: number) =>
    problem('syntax', 'problem.import_syntax', { format: format.toUpperCase(), line, column });

class TooMuch extends Error {}

// A piece of a file may be indented as a whole.
function atMargin(lines: string[]): string[] {
    const least = Math.min(...lines.map((line) => line.length - line.trimStart().length));
    return least > 0 && Number.isFinite(least) ? lines.map((line) => line.slice(least)) : lines;
}

// By its first lines that say something.
export function formatOf(text: string): Format {
    const lines = atMargin(text.split('\n', 5_000).filter((line) => line.trim() !== '' && !line.trim().startsWith('#')));
    if (/^(---)?(apiVersion|kind):/.test(lines.slice(0, 2).join(''))) return 'yaml'; // of Kubernetes, whatever scripts stand in it
    if (text.startsWith('#!') || lines.some((line) => line.startsWith('```'))) return 'text'; // a script; a page with its commands
    if (lines.some((line) => /(^|[^<])<<-?\s*["']?[A-Za-z_]\w*["']?\s*([|>&;)]|$)/.test(line))) return 'text'; // a script with a here-document
    if (lines[0]?.trimStart().startsWith('{'))
        return lines.some((line, at) => line.trimEnd() === '}' && /^[\w[$]/.test(lines[at + 1] ?? '')) ? 'text' : 'json'; // with a command or a log below it
    if (lines.some((line) => /^\s*\[\[?[\w."-]+\]\]?\s*(#.*)?$/.test(line)) && lines.some((line) => /^\s*[\w."-]+\s*=/.test(line)))
        return 'toml';
    // A block's own lines may be anything; what stands at the margin tells.
    const mapping = /^(- )*["']?[-\w./@]+["']?\s*:(\s|$)/;
    const margin = lines.filter((line) => /^[^\s}\]]/.test(line));
    const fitting = margin.filter((line) => mapping.test(line) || /^(- |---|\.\.\.|%)/.test(line));
    return margin.some((line) => mapping.test(line)) && fitting.length * 4 >= margin.length * 3 ? 'yaml' : 'text';
}

// What a list of settings is made into: at most so many, each key with the line that it stands on.
class Settings {
    readonly list: Setting[] = [];

    add(key: string, value: Scalar, line: number): void {
        if (this.list.length >= MOST_SETTINGS || key.length > LONGEST_KEY) throw new TooMuch();
        this.list.push({ key, value, line });
    }

    // A value of a program: scalars, lists of them, and objects.
    put(key: string, value: unknown, lineOf: (key: string) => number, depth = 0): void {
        if (depth > DEEPEST) throw new TooMuch();
        if (Array.isArray(value)) this.putList(key, value, lineOf, depth);
        else if (value !== null && typeof value === 'object' && !(value instanceof Date)) {
            for (const [name, inner] of Object.entries(value)) this.put(key === '' ? name : `${key}.${name}`, inner, lineOf, depth + 1);
        } else this.add(key, scalar(value), lineOf(key));
    }

    private putList(key: string, list: unknown[], lineOf: (key: string) => number, depth: number): void {
        if (list.every((one) => one === null || typeof one !== 'object')) {
            this.add(key, list.slice(0, LONGEST_LIST).map(scalar), lineOf(key));
            return;
        }
        list.forEach((one, index) => {
            this.put(`${key}.${index}`, one, lineOf, depth + 1);
        });
    }
}

function scalar(value: unknown): string | number | boolean | null {
    if (typeof value === 'boolean' || typeof value === 'string') return value;
    if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
    if (value instanceof Date) return value.toISOString(); // of TOML: as it is written there
    return value === null || value === undefined ? null : String(value);
}

// Aliases and merges ("<<") are resolved; a key that stands twice is kept twice, since the last one counts.
async function readYaml(text: string, format: 'yaml' | 'json'): Promise<Setting[] | { problems: Problem[] }> {
    const { LineCounter, isAlias, isMap, isScalar, isSeq, parseAllDocuments, visit } = await import('yaml');
    const lines = new LineCounter();
    const options = {
        lineCounter: lines,
        uniqueKeys: false,
        strict: false,
        logLevel: 'silent',
        version: format === 'yaml' ? '1.1' : '1.2',
        // What it would make of dates and bytes depends on the engine and its time zone: they stay the text that stands there.
        customTags: (tags: Tags) => tags.filter((one) => typeof one === 'string' || !/:(binary|timestamp)$/.test(one.tag)),
        resolveKnownTags: false,
    } as const;
    const documents = parseAllDocuments(text, options);
    if (!Array.isArray(documents)) return [];
    const broken = documents.flatMap(({ errors }) => errors)[0];
    if (broken) {
        const { line, col } = lines.linePos(broken.pos[0]);
        return brokenAt(format, line, col);
    }
    // Of what Kubernetes is given at once, what starts something.
    const jobs = documents.length > 1 ? documents.filter((one) => /Job|Pod/.test(String(one.get('kind')))) : documents;
    if (documents.length > 1 && jobs.length !== 1) return problem('documents', 'problem.import_documents', { count: documents.length });
    const document = jobs[0];
    if (!document) return [];
    const anchors = new Map<string, unknown>();
    const meant = new Map<unknown, unknown>(); // an alias names the anchor that stands before it
    visit(document, {
        Node: (_, node) => {
            if (isAlias(node)) meant.set(node, anchors.get(node.source));
            else if (node.anchor) anchors.set(node.anchor, node);
        },
    });
    const resolved = (node: unknown): unknown => (isAlias(node) ? meant.get(node) : node);
    const lineOf = (node: unknown): number => {
        const range = (node as { range?: [number, number, number] } | null)?.range;
        return range ? lines.linePos(range[0]).line : 0;
    };
    const settings = new Settings();
    let steps = 0;
    const walk = (key: string, given: unknown, depth: number, line: number): void => {
        steps += 1;
        if (depth > DEEPEST || steps > 4 * MOST_SETTINGS) throw new TooMuch();
        const node = resolved(given);
        if (isMap(node)) walkMap(key, node.items, depth, line);
        else if (isSeq(node)) {
            const parts = node.items.map(resolved);
            if (parts.every((one) => isScalar(one)))
                settings.add(
                    key,
                    parts.slice(0, LONGEST_LIST).map(({ value }) => scalar(value)),
                    line,
                );
            else
                for (const [index, one] of node.items.entries())
                    walk(key === '' ? `${index}` : `${key}.${index}`, one, depth + 1, lineOf(one));
        } else settings.add(key, scalar(isScalar(node) ? node.value : null), line);
    };
    const walkMap = (key: string, items: { key: unknown; value: unknown }[], depth: number, line: number): void => {
        const isMerge = (pair: { key: unknown }) => isScalar(pair.key) && (pair.key.value === '<<' || typeof pair.key.value === 'symbol');
        for (const pair of items.filter(isMerge)) {
            const merged = resolved(pair.value); // of several the first counts
            for (const one of isSeq(merged) ? [...merged.items].reverse() : [merged]) walk(key, one, depth + 1, line);
        }
        for (const pair of items.filter((one) => !isMerge(one))) {
            const name = isScalar(pair.key) ? (pair.key.source ?? String(pair.key.value)) : String(pair.key);
            walk(key === '' ? name : `${key}.${name}`, pair.value, depth + 1, lineOf(pair.key) || line);
        }
    };
    walk('', document.contents, 0, 0);
    return settings.list;
}

async function readToml(text: string): Promise<Setting[] | { problems: Problem[] }> {
    const { parse, TomlError } = await import('smol-toml');
    let read: unknown;
    try {
        read = parse(text);
    } catch (error) {
        if (error instanceof TomlError) return brokenAt('toml', error.line, error.column);
        throw error;
    }
    const found = new Map<string, number>();
    let section = '';
    text.split('\n').forEach((line, index) => {
        const header = /^\s*\[\[?([^\]]+)\]/.exec(line)?.[1];
        const key = /^\s*([\w."'-]+)\s*=/.exec(line)?.[1];
        if (header) section = `${header.trim()}.`;
        if (key) found.set((section + key).replace(/["']/g, ''), index + 1);
    });
    const lineOf = (key: string): number => found.get(key) ?? found.get(key.slice(0, key.lastIndexOf('.'))) ?? 0;
    const settings = new Settings();
    settings.put('', read, lineOf);
    return settings.list;
}

// Files of gpt-neox pasted one below the other: objects that begin at the margin. Each keeps the numbers of its lines.
function objectsOf(text: string): string[] {
    const lines = text.split('\n');
    const starts = lines.flatMap((line, index) => (line.startsWith('{') ? [index] : []));
    const block = (start: number, n: number) => lines.slice(start, starts[n + 1]).filter((line) => line.trim() !== '---');
    return starts.map((start, n) => '\n'.repeat(start) + block(start, n).join('\n'));
}

// What the files before it do not say, or say otherwise, the last one says.
async function readObjects(text: string): Promise<Setting[] | undefined> {
    const objects = objectsOf(text);
    const read = objects.length > 1 && objects.length < 20 ? await Promise.all(objects.map((one) => readYaml(one, 'yaml'))) : [];
    const lists = read.filter((one) => Array.isArray(one));
    return lists.length > 0 && lists.length === read.length ? lists.flat() : undefined;
}

// JSON is YAML; with comments, a comma too many or True it is YAML alone (gpt-neox). Where neither reads it, JSON's place is the better one.
async function readJson(text: string): Promise<Setting[] | { problems: Problem[] }> {
    try {
        JSON.parse(text);
        return readYaml(text, 'json');
    } catch {
        const read = await readYaml(text, 'yaml');
        if (Array.isArray(read)) return read;
        const several = await readObjects(text);
        if (several) return several;
        const before = text.slice(0, jsonStopsAt(text)).split('\n');
        return brokenAt('json', before.length, (before.at(-1)?.length ?? 0) + 1);
    }
}

// Whether brackets stand in each other by the hundred: a parser of YAML takes seconds for thousands of them, or runs out of its stack.
function nestsWithoutEnd(text: string): boolean {
    let depth = 0;
    for (const { 0: sign } of text.matchAll(/[[\]{}]/g)) {
        depth = sign === '[' || sign === '{' ? depth + 1 : Math.max(0, depth - 1);
        if (depth > MOST_OPEN) return true;
    }
    return false;
}

// Of the text as UTF-8.
function bytesOf(text: string): number {
    let bytes = 0;
    for (const letter of text) bytes += letter.length === 2 ? 4 : letter < '\u0080' ? 1 : letter < '\u0800' ? 2 : 3;
    return bytes;
}

// What to ask import_plan() for this text; or what is wrong with it.
export async function readSettings(text: string, set: Record<string, string> = {}): Promise<Read> {
    const bytes = bytesOf(text);
    if (bytes > MOST_BYTES) return problem('too_large', 'problem.too_large', { size: bytes, most: MOST_BYTES });
    const format = formatOf(text);
    if (format === 'text') return { request: { text, set } };
    if (nestsWithoutEnd(text)) return problem('too_large', 'problem.import_too_much', { most: MOST_SETTINGS });
    try {
        const read = await { yaml: () => readYaml(text, 'yaml'), json: () => readJson(text), toml: () => readToml(text) }[format]();
        if (!Array.isArray(read)) return read;
        return { request: { entries: read, set } };
    } catch (error) {
        if (error instanceof TooMuch || error instanceof RangeError || error instanceof ReferenceError)
            return problem('too_large', 'problem.import_too_much', { most: MOST_SETTINGS });
        throw error;
    }
}
