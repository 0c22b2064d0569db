// What to change in a configuration to make another one of it: "- old" and "+ new" lines in the configuration's own syntax, below the
// sections that they stand in. Both files are written anew, so the first one may say what the reader's leaves to a default: only what the
// reader's has can be taken out of it.
import { formatOf } from './settings';

interface Line {
    key: string; // what it sets, and which of several of that key it is
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
    const root: Line = { key: '', text: '', inner: [], end: '' };
    const open: { line: Line; depth: number }[] = [{ line: root, depth: -1 }];
    for (const written of text.split('\n')) {
        const line = cleaned(written, shape);
        const bare = line.trim();
        if (bare === '' || (shape === 'json' && /^[{}\]]$/.test(bare))) continue;
        const depth = depthOf(line, shape);
        while ((open.at(-1)?.depth ?? -1) >= depth) open.pop();
        const { inner } = (open.at(-1) ?? { line: root }).line;
        const name = shape === 'toml' && bare.startsWith('[') ? bare : (/^[^\s=:]+/.exec(bare)?.[0] ?? bare);
        const before = inner.filter(({ key }) => key.startsWith(`${name}#`)).length;
        const end = shape === 'json' ? `${' '.repeat(depth)}}` : '';
        const own: Line = { key: `${name}#${before}`, text: line, inner: [], end };
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

type Has = (line: Line) => boolean;

// What can be taken out: a section with what it holds of that.
function present(lines: readonly Line[], has: Has): Line[] {
    return lines.flatMap((line) => {
        const inner = present(line.inner, has);
        return inner.length > 0 || (line.inner.length === 0 && has(line)) ? [{ ...line, inner }] : [];
    });
}

function difference(before: readonly Line[], after: readonly Line[], has: Has): string[] {
    const others = new Map(after.map((line) => [line.key, line]));
    const kept = new Set(before.map(({ key }) => key));
    return [
        ...before.flatMap((line) => {
            const other = others.get(line.key);
            if (!other) return present([line], has).flatMap((one) => marked('-', one));
            const inner = difference(line.inner, other.inner, has);
            if (line.text !== other.text) return [...(has(line) ? [`- ${line.text}`] : []), `+ ${other.text}`, ...inner];
            return inner.length === 0 ? [] : [`  ${line.text}`, ...inner, ...(line.end === '' ? [] : [`  ${line.end}`])];
        }),
        ...after.filter(({ key }) => !kept.has(key)).flatMap((line) => marked('+', line)),
    ];
}

// `keys`: what the reader's file has.
export function changedLines(from: string, to: string, keys: readonly string[]): string {
    const shape = formatOf(to);
    const names = new Set(keys.map(nameOf));
    return difference(treeOf(from, shape), treeOf(to, shape), ({ key }) => names.has(nameOf(key))).join('\n');
}
