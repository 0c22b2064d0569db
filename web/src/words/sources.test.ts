// What the sources of the page say, and that they say nothing by themselves.
import { readdirSync, readFileSync } from 'node:fs';
import { parseSync, Visitor } from 'rolldown/utils';
import { expect, test } from 'vitest';
import { ownWords } from '../../plugins/words';

const SOURCES = new URL('..', import.meta.url);
const isSource = (name: string): boolean => /\.tsx?$/.test(name) && !/\.test\.|\/test-|\.d\.ts$|^words\/(?!words\.ts$)/.test(name);

const NO_WORDS = /^(class|d|points|transform|viewBox|style|accept|pattern)$/; // attributes that nobody reads
const FOR_CODE = /^(querySelector|querySelectorAll|closest|matches|matchMedia)$/; // functions that read their text themselves

interface Named {
    name?: unknown;
    property?: Named;
}
interface Quiet {
    type: string;
    name?: Named;
    callee?: Named;
}

// Inside of it nothing is shown: the texts of errors that only a mistake of ours throws, selectors, styles.
function isQuiet({ type, name, callee }: Quiet): boolean {
    if (type === 'JSXAttribute') return NO_WORDS.test(String(name?.name));
    if (type === 'NewExpression') return /Error$/.test(String(callee?.name));
    return type === 'ImportDeclaration' || FOR_CODE.test(String(callee?.property?.name ?? callee?.name));
}

const HOLE = '\0'; // where a value stands in a template

// The texts of a source as they are written, and those between its tags.
function textsOf(name: string): { literals: string[]; markup: string[] } {
    const literals: string[] = [];
    const markup: string[] = [];
    let quiet = 0;
    const enter = (node: object): void => {
        if (isQuiet(node as Quiet)) quiet += 1;
    };
    const leave = (node: object): void => {
        if (isQuiet(node as Quiet)) quiet -= 1;
    };
    const add = (text: unknown): void => {
        if (quiet === 0 && typeof text === 'string') literals.push(text);
    };
    new Visitor({
        ImportDeclaration: enter,
        'ImportDeclaration:exit': leave,
        JSXAttribute: enter,
        'JSXAttribute:exit': leave,
        NewExpression: enter,
        'NewExpression:exit': leave,
        CallExpression: enter,
        'CallExpression:exit': leave,
        Literal: ({ value }) => add(value),
        TemplateLiteral: ({ quasis }) => add(quasis.map(({ value }) => value.cooked ?? '').join(HOLE)),
        JSXText: ({ value }) => {
            markup.push(value.trim());
        },
    }).visit(parseSync(name, readFileSync(new URL(name, SOURCES), 'utf8')).program);
    return { literals, markup };
}

const sources = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter(isSource);
const found = sources.map((name) => ({ name, ...textsOf(name) }));

test('no id of the page is unused', () => {
    const texts = new Set(found.flatMap(({ literals }) => literals));
    const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    const families = [...texts].filter((text) => text.includes(HOLE) && /^[a-z_]+\./.test(text));
    const patterns = families.map((text) => new RegExp(`^${text.split(HOLE).map(escaped).join('[^.]+')}$`));
    const said = (id: string): boolean => texts.has(id) || patterns.some((pattern) => pattern.test(id));
    expect(Object.keys(ownWords('en')).filter((id) => !said(id))).toEqual([]);
});

const WORDS = /\p{L}{2,}[\s,;:]+\p{L}{2,}/u; // two in a row
const CODE = /^[\w-]+(, ?[\w-]+)*$|^[\w-]*\(|^\[|[{}<>]|^\w+: /; // selectors, media queries, colours, ids in a row

test('no sentence stands in the sources', () => {
    const sentences = found.flatMap(({ name, literals, markup }) =>
        [...markup.filter((text) => /\p{L}{2,}/u.test(text)), ...literals.filter((text) => WORDS.test(text) && !CODE.test(text))].map(
            (text) => `${name}: ${text}`,
        ),
    );
    expect(sentences).toEqual([]);
});
