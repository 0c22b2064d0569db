// Compiles words/<language>.json, the page's own and the core's, into modules: a string where a template has no argument, a function
// otherwise. The page gets neither a parser nor a language that nobody reads, and needs no eval.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import MessageFormat from '@messageformat/core';
import compileModule from '@messageformat/core/compile-module';
import { parse, type Token } from '@messageformat/parser';
import type { Plugin } from 'vite';
import { LANGUAGES, type Language } from '../src/words/language.ts';
import { PARTS, type Part, partOf } from '../src/words/parts.ts';

export type Catalogue = Readonly<Record<string, string>>;

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const OWN = at('../src/words/');
const CORE = at('../../core/data/words/');
const FORMATTERS = at('../src/format/in-words.ts');
const RUNTIME = at('../src/words/runtime.ts');

// How a number stands in a sentence; format/in-words.ts writes it.
const NUMBERS = ['count', 'number', 'percent', 'bytes', 'seconds', 'rate', 'flops'] as const;

const read = (file: string): Catalogue => (existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {});

// One file per language, or one per room of the core.
function coreFiles(language: Language): string[] {
    const folder = `${CORE}${language}/`;
    const rooms = existsSync(folder) ? readdirSync(folder).sort() : [];
    return [`${CORE}${language}.json`, ...rooms.filter((name) => name.endsWith('.json')).map((name) => folder + name)];
}
export const ownWords = (language: Language): Catalogue => read(`${OWN}${language}.json`);
export const coreWords = (language: Language): Catalogue => Object.assign({}, ...coreFiles(language).map(read));
export const allWords = (language: Language): Catalogue => ({ ...coreWords(language), ...ownWords(language) });

// ---- what a template asks for
type Kind = 'number' | 'list' | 'choice' | 'text';

function kindsIn(tokens: readonly Token[], found: Map<string, Kind>): Map<string, Kind> {
    const is = (arg: string, kind: Kind): void => {
        const before = found.get(arg);
        if (before && before !== kind && kind !== 'text' && before !== 'text') throw new Error(`"${arg}" is ${before} and ${kind}`);
        if (!before || before === 'text') found.set(arg, kind);
    };
    for (const token of tokens) {
        if (token.type === 'argument') is(token.arg, 'text');
        else if (token.type === 'function') is(token.arg, token.key === 'list' ? 'list' : 'number');
        else if (token.type !== 'content' && token.type !== 'octothorpe') {
            is(token.arg, token.type === 'select' ? 'choice' : 'number');
            for (const { tokens: inside } of token.cases) kindsIn(inside, found);
        }
    }
    return found;
}
export const argumentsOf = (template: string): Map<string, Kind> => kindsIn(parse(template), new Map());

const TYPES: Record<Kind, string> = { number: 'number', list: 'readonly string[]', choice: 'string | boolean', text: 'string' };

// words/ids.ts: what say() may be asked, and with what.
export function idsSource(words: Catalogue): string {
    const lines = Object.keys(words).map((id) => {
        const args = [...argumentsOf(words[id] ?? '')].map(([name, kind]) => `${name}: ${TYPES[kind]}`);
        return `    '${id}': ${args.length > 0 ? `{ ${args.join('; ')} }` : 'null'};`;
    });
    return `// Made of words/en.json by words.test.ts; \`npx vitest run -u words\` writes it anew.\nexport interface Words {\n${lines.join('\n')}\n}\n`;
}

// ---- compiled
const formatter = (id: string) => ({ formatter: String, id, module: () => FORMATTERS });

// The text of a template that has no argument; null where it has some.
function plainText(template: string): string | null {
    const tokens = parse(template);
    return tokens.every((token) => token.type === 'content') ? tokens.map(({ value }) => value).join('') : null;
}

// A module whose default export is the words by their ids.
export function compileWords(language: Language, words: Catalogue, strict: boolean): string {
    const compiler = new MessageFormat(language, {
        customFormatters: Object.fromEntries([...NUMBERS, 'list'].map((id) => [id, formatter(id)])),
        requireAllArguments: strict,
        strictPluralKeys: true,
    });
    const plain: string[] = [];
    const templates: Record<string, string> = {};
    for (const [id, template] of Object.entries(words)) {
        const text = plainText(template);
        if (text === null) templates[id] = template;
        else plain.push(`${JSON.stringify(id)}: ${JSON.stringify(text)},`);
    }
    return compileModule(compiler, templates)
        .replace('"@messageformat/runtime";', `${JSON.stringify(RUNTIME)};`)
        .replace('export default {', `export default {\n${plain.join('\n')}`);
}

const NAME = 'virtual:words';
const ENGLISH = '?english'; // of a part: what its language lacks

interface Options {
    strict?: boolean; // a sentence that lacks an argument throws
    eager?: boolean; // all parts at once: a page that is drawn in Node asks for none later
    whole?: boolean; // a file for each language: where nothing is fetched over a line
    without?: readonly Part[]; // parts that nothing built here says
}

export function wordsPlugin({ strict = false, eager = false, whole = false, without = [] }: Options = {}): Plugin {
    const kept = PARTS.filter((part) => !without.includes(part));
    const inPart = (words: Catalogue, part: string): Catalogue =>
        Object.fromEntries(Object.entries(words).filter(([id]) => partOf(id) === part));
    const sourceOf = (name: string): string => {
        const [language, part] = name.replace(ENGLISH, '').split('/') as [Language, Part];
        const own = inPart(allWords(language), part);
        if (language === 'en') return compileWords('en', own, strict);
        const lacking = Object.fromEntries(Object.entries(inPart(allWords('en'), part)).filter(([id]) => !(id in own)));
        if (name.endsWith(ENGLISH)) return compileWords('en', lacking, strict);
        const compiled = compileWords(language, own, strict).replace('export default', 'const own =');
        return `import english from '${NAME}/${name}${ENGLISH}';\n${compiled};\nexport default { ...english, ...own };`;
    };
    const languages = Object.keys(LANGUAGES) as Language[];
    // Of a language: how to come by each part. The file that names the others has the first one in it, so that what every reader loads
    // names one file for each language.
    const languageSource = (language: string): string => {
        const imports: string[] = [];
        const entries = kept.map((part) => {
            const from = `'${NAME}/${language}/${part}'`;
            if (part !== 'first' && !eager && !whole) return `${part}: () => import(${from})`;
            imports.push(`import ${part} from ${from};`);
            return `${part}: async () => ({ default: ${part} })`;
        });
        return `${imports.join('\n')}\nexport default { ${entries.join(', ')} };`;
    };
    const index = (): string => {
        const imports = eager ? languages.map((language) => `import * as ${language} from '${NAME}/${language}';`) : [];
        const entries = languages.map(
            (language) => `${language}: ${eager ? `async () => ${language}` : `() => import('${NAME}/${language}')`}`,
        );
        return `${imports.join('\n')}\nexport default { ${entries.join(', ')} };`;
    };
    return {
        name: 'words',
        resolveId: (id) => (id.startsWith(NAME) ? `\0${id}` : null),
        load(id) {
            if (!id.startsWith(`\0${NAME}`)) return null;
            for (const language of languages)
                for (const file of [`${OWN}${language}.json`, ...coreFiles(language)]) if (existsSync(file)) this.addWatchFile(file);
            if (id === `\0${NAME}`) return index();
            const name = id.slice(NAME.length + 2);
            return name.includes('/') ? sourceOf(name) : languageSource(name);
        },
    };
}
