// What to change in a configuration to make another one of it: "- old" and "+ new" lines in the configuration's own syntax, below the
// sections that they stand in. Both files are written anew, so the first one may say what the reader's leaves to a default, or leave out what
// that says: only what the reader's has can be taken out of it, and stands here as it stands there.
import { formatOf } from './settings';

interface Line {
    key: string; // what it sets, and which of several of that key it is
    path: string; // that key below its sections
    text: string;
    inner: Line[]; // of a section
    end: string; // what closes the section
}
type Shape = ReturnType<typeof formatOf>;

const isSection = (text: string, shape: Shape): boolean =>
    shape === 'toml' ? text.startsWith('[') : shape === 'json' ? text.endsWith('{') : shape === 'yaml' && text.endsWith(':');

// A line as it stands there: the indentation of YAML and JSON says the section, that of a script nothing.
function cleaned(line: string, shape: Shape): string {
    if (shape === 'text') return line.replace(/\s*\\$/, '').trim();
    return shape === 'json' ? line.trimEnd().replace(/,$/, '') : line.trimEnd();
}
const depthOf = (text: string, shape: Shape): number =>
    shape === 'text' || (shape === 'toml' && text.startsWith('[')) ? 0 : shape === 'toml' ? 1 : text.length - text.trimStart().length;

// The lines of a text as the tree of its sections.
function treeOf(text: string, shape: Shape): Line[] {
    const root: Line = { key: '', path: '', text: '', inner: [], end: '' };
    const open: { line: Line; depth: number }[] = [{ line: root, depth: -1 }];
    for (const written of text.split('\n')) {
        const line = cleaned(written, shape);
        const bare = line.trim();
        if (bare === '' || (shape === 'json' && /^[{}\]]$/.test(bare))) continue;
        const depth = depthOf(line, shape);
        while ((open.at(-1)?.depth ?? -1) >= depth) open.pop();
        const { inner, path: above } = (open.at(-1) ?? { line: root }).line;
        const name = shape === 'toml' && bare.startsWith('[') ? bare : (/^[^\s=:]+/.exec(bare)?.[0] ?? bare);
        const before = inner.filter(({ key }) => key.startsWith(`${name}#`)).length;
        const end = shape === 'json' ? `${' '.repeat(depth)}}` : '';
        const path = (above === '' ? '' : `${above}.`) + name.replace(/^["[]+|["\]]+$/g, '');
        const own: Line = { key: `${name}#${before}`, path, text: line, inner: [], end };
        inner.push(own);
        if (isSection(bare, shape)) open.push({ line: own, depth });
    }
    return root.inner;
}

const marked = (sign: string, { text, inner, end }: Line): string[] => [
    `${sign} ${text}`,
    ...inner.flatMap((one) => marked(sign, one)),
    ...(inner.length > 0 && end !== '' ? [`${sign} ${end}`] : []),
];

// "--micro-batch-size", "model.micro_batch_size" and "micro_batch_size#0" are the same.
const nameOf = (key: string): string =>
    key
        .replace(/#\d+$/, '')
        .replace(/^.*\./, '')
        .replace(/^["[-]+|["\]]+$/g, '')
        .replaceAll('-', '_');

// What the reader's file says, and how: a value that is not known is the one that is written anew.
export interface Said {
    readonly key: string;
    readonly value?: string;
}
interface Shown {
    own: (line: Line) => string[]; // the reader's own lines of it
    exactly: (line: Line) => string[]; // those with the same path
    held: (line: Line) => boolean; // what must be said, though both texts have it
}

const bare = (value: string): string => value.replace(/^["']|["']$/g, '').toLowerCase();
const NUMBER = /^(true|false|null|-?[\d.]+(e[-+]?\d+)?)$/i;

// A line as it is written anew, with the reader's value.
function quoted(text: string, { key, value }: Said, shape: Shape): string {
    const [, head, other] = /^(\s*"?[\w.+-]+"?(?: ?[=:] ?))(.+)$/.exec(text) ?? [];
    if (!value) return text; // null of YAML and of Hydra reads as nothing
    if (key.startsWith('--') && shape === 'text') return flagText({ key, value });
    if (head === undefined || other === undefined || other.startsWith('[') || bare(other) === bare(value)) return text;
    return head + (shape === 'yaml' || shape === 'text' || NUMBER.test(value) ? value : JSON.stringify(value));
}

// An argument as it stands in a script.
export const flagText = ({ key, value }: Required<Said>): string =>
    value === 'true' ? key : `${key} ${/^[\w.,-]+$/.test(value) ? value : `'${value}'`}`;

// What can be taken out: a section with what it holds of that.
function present(lines: readonly Line[], { own }: Shown): Line[] {
    return lines.flatMap((line) => {
        if (line.inner.length === 0) return own(line).map((text) => ({ ...line, text }));
        const inner = present(line.inner, { own } as Shown);
        return inner.length > 0 ? [{ ...line, inner }] : [];
    });
}

// What takes the place of the reader's own lines; nothing where they say the same.
const instead = (text: string, own: readonly string[]): string[] =>
    own.includes(text) ? [] : [...own.map((one) => `- ${one}`), `+ ${text}`];

function added(line: Line, shown: Shown): string[] {
    if (line.inner.length === 0) return instead(line.text, shown.exactly(line));
    const inner = line.inner.flatMap((one) => added(one, shown));
    const known = line.inner.some((one) => shown.exactly(one).length > 0);
    if (!known) return marked('+', line);
    return inner.length === 0 ? [] : [`  ${line.text}`, ...inner, ...(line.end === '' ? [] : [`  ${line.end}`])];
}

function difference(before: readonly Line[], after: readonly Line[], shown: Shown): string[] {
    const others = new Map(after.map((line) => [line.key, line]));
    const kept = new Set(before.map(({ key }) => key));
    return [
        ...before.flatMap((line) => {
            const other = others.get(line.key);
            if (!other) return present([line], shown).flatMap((one) => marked('-', one));
            const inner = difference(line.inner, other.inner, shown);
            if (line.text !== other.text || shown.held(line)) return [...instead(other.text, shown.own(line)), ...inner];
            return inner.length === 0 ? [] : [`  ${line.text}`, ...inner, ...(line.end === '' ? [] : [`  ${line.end}`])];
        }),
        ...after.filter(({ key }) => !kept.has(key)).flatMap((line) => added(line, shown)),
    ];
}

// `said`: what the reader's file has. `held`: what it must say, as it stands in both texts; `open`: so does what has one of these keys.
export function changedLines(
    from: string,
    to: string,
    said: readonly Said[],
    held: RegExp | null = null,
    open: readonly Said[] = [],
): string {
    const shape = formatOf(to);
    const linesOf = (line: Line, keys: readonly Said[]) => [...new Set(keys.map((one) => quoted(line.text, one, shape)))];
    const of = ({ path }: Line, keys: readonly Said[]) =>
        keys.filter(({ key }) => (shape === 'text' ? nameOf(key) === nameOf(path) : key === path));
    const exact = (line: Line) => of(line, said);
    const shown: Shown = {
        own: (line) => {
            const found = exact(line);
            const near = said.some(({ key }) => nameOf(key) === nameOf(line.key));
            return found.length > 0 ? linesOf(line, found) : near ? [line.text] : [];
        },
        exactly: (line) => linesOf(line, exact(line)),
        held: (line) => held?.test(line.text) === true || of(line, open).length > 0,
    };
    return difference(treeOf(from, shape), treeOf(to, shape), shown).join('\n');
}
