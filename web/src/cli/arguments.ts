// What was typed behind the name of the program, taken apart. Nothing is refused here but an option without its value.
import { type Flag, isFlag, keyOf } from './options';

// An option with a value; which of them are known is a later question. null: none was given.
export interface Given {
    option: string; // as typed: --tp
    key: string; // tp
    text: string | null;
}
export interface Typed {
    words: string[]; // the command and the files
    flags: ReadonlySet<Flag>;
    given: Given[];
}

const SHORT: Record<string, string> = { '-h': '--help', '-V': '--version' };
const isOption = (text: string): boolean => /^--?[A-Za-z]/.test(text); // "-" is a file, "-2" is a number
const BOOLEAN = /^(true|false|auto|[01])$/;

// `isBoolean`: of a key whose option may stand alone.
export function readArguments(typed: readonly string[], isBoolean: (key: string) => boolean): Typed {
    const words: string[] = [];
    const flags = new Set<Flag>();
    const given: Given[] = [];
    const left = [...typed];
    for (let one = left.shift(); one !== undefined; one = left.shift()) {
        if (one === '--') {
            words.push(...left.splice(0));
            break;
        }
        if (!isOption(one)) {
            words.push(one);
            continue;
        }
        const [option = '', ...rest] = (SHORT[one] ?? one).split('=');
        const key = keyOf(option);
        if (isFlag(key) && rest.length === 0) {
            flags.add(key);
            continue;
        }
        const next = left[0];
        const takes = next !== undefined && (isBoolean(key) ? BOOLEAN.test(next) : !isOption(next));
        const text = rest.length > 0 ? rest.join('=') : takes ? (left.shift() ?? null) : isBoolean(key) ? 'true' : null;
        given.push({ option, key, text });
    }
    return { words, flags, given };
}
