// What compiled words call: the forms of a plural, the choices, and the number of a plural in the reader's way.
import { format } from '../format/format';

type Forms = Readonly<Record<string, string>>;

export function plural(value: number, offset: number, category: (value: number) => string, forms: Forms): string {
    return forms[value] ?? forms[category(value - offset)] ?? forms.other ?? '';
}

export const select = (value: unknown, forms: Forms): string => forms[String(value)] ?? forms.other ?? '';

export const number = (_: string, value: number, offset: number): string => format.count(value - offset);

// Only tests compile this in: a sentence that lacks an argument fails there.
export function reqArgs(names: readonly string[], given: Readonly<Record<string, unknown>> | undefined): void {
    for (const name of names) if (given?.[name] === undefined) throw new Error(`this sentence needs "${name}"`);
}
