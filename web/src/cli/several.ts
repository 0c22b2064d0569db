// Several files of one run as one text: a script, and what it names. The readers take a file that a script writes for the one that it names.
import { formatOf } from '../formats/settings';

export interface NamedText {
    name: string;
    text: string;
}

const END = 'FOURFOLD_END_OF_FILE';
const bareName = ({ name }: NamedText): string => name.replace(/^.*[/\\]/, '');
const written = (file: NamedText): string => `cat > '${bareName(file).replaceAll("'", '')}' <<'${END}'\n${file.text.trimEnd()}\n${END}\n`;

// Configurations of gpt-neox are read one below the other.
const isObject = ({ text }: NamedText): boolean => formatOf(text) === 'json';

// What cannot be one text stays as it is.
export function joinedFiles(files: readonly NamedText[]): readonly NamedText[] {
    if (files.length < 2) return files;
    const name = files.map((one) => one.name).join(', ');
    const scripts = files.filter(({ text }) => formatOf(text) === 'text');
    const isNamed = (one: NamedText): boolean => scripts.some((other) => other !== one && other.text.includes(bareName(one)));
    const main = scripts.find((one) => !isNamed(one)) ?? scripts[0];
    if (main) return [{ name, text: [...files.filter((one) => one !== main).map(written), main.text].join('') }];
    return files.every(isObject) ? [{ name, text: files.map(({ text }) => text.trim()).join('\n') }] : files;
}
