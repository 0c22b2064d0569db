// What there is to type: the fields as the catalogue has them.
import type { Catalog, Field } from '../core/api';
import { format } from '../format/format';
import { LINK_UNITS } from '../placement/link-units';
import { choiceName, fieldHelp, fieldName, labelOf } from '../shared/names';
import { LANGUAGES } from '../words/language';
import { say, sentences } from '../words/words';
import { NAMED } from './job';
import { type Command, commands, type Flag, flagsOf, type Own, optionOf, ownOf, takesJob } from './options';
import { table } from './table';

const EXAMPLE = ['fourfold', 'fit', '--model', 'llama-3.1-70b', '--gpu', 'h100-sxm-80gb', '--gpus', '64'];
const LISTS: Record<string, Command> = { model: 'models', gpu: 'gpus', cluster: 'clusters' };

// What may stand behind an option.
function valuesOf(field: Field): string {
    const auto = field.auto && !('choices' in field && field.choices.some(({ id }) => id === 'auto')) ? ['auto'] : [];
    if (field.type === 'integer' || field.type === 'number') {
        return [say('cli.range', { from: format.measured(field.min), to: format.measured(field.max) }), ...auto].join(' | ');
    }
    if (field.type === 'boolean') return ['true', 'false', ...auto].join(' | ');
    const ids = field.choices.map(({ id }) => id);
    if (field.type === 'set') return ids.join(',');
    return [...ids, ...auto, ...(field.type === 'text' ? [say('cli.notation')] : [])].join(' | ');
}

function choicesOf(field: Field): string {
    if (!('choices' in field)) return '';
    return field.choices.map((choice) => `${choice.id}: ${choiceName(field, choice)}`).join('; ');
}

function fieldText(field: Field): string {
    const choices = choicesOf(field);
    const initial = say('cli.default', { value: String(field.default) || '–' });
    return [
        `  ${[...new Set([field.key, field.link])].map(optionOf).join(', ')}  ${valuesOf(field)}`,
        `      ${sentences(`${fieldName(field)}.`, fieldHelp(field), initial)}`,
        ...(choices ? [`      ${choices}`] : []),
    ].join('\n');
}

function namedText(key: (typeof NAMED)[number], catalog: Catalog): string {
    const list = LISTS[key];
    const ids = list ? say('cli.lists', { command: `fourfold ${list}` }) : catalog.methods.map(({ id }) => id).join(' | ');
    return `  ${optionOf(key)}  ${sentences(`${labelOf([], key)}.`, ids)}`;
}

function aboutOwn(key: Own | Flag, { config_formats: formats }: Catalog): string {
    if (key === 'lang') return say('cli.option.lang', { ids: Object.keys(LANGUAGES) });
    if (key === 'to') return say('cli.option.to', { ids: formats.map(({ name }) => name) });
    if (key === 'unit') return say('cli.option.unit', { ids: LINK_UNITS });
    if (key === 'release') return say('cli.option.release', { ids: formats[0]?.releases ?? [] });
    return say(`cli.option.${key}`);
}

const ownText = (key: Own | Flag, catalog: Catalog): string[] => {
    const about = aboutOwn(key, catalog);
    return [`  ${optionOf(key)}`, about];
};

function jobText(catalog: Catalog): string[] {
    return ['', `${say('cli.run')}:`, say('cli.file'), ...NAMED.map((key) => namedText(key, catalog)), ...catalog.fields.map(fieldText)];
}

export function helpOf(command: Command, catalog: Catalog): string {
    const job = takesJob(command);
    return [
        say(`cli.command.${command}`),
        '',
        say('cli.usage', { line: `fourfold ${command}` }),
        '',
        table([...ownOf(command), ...flagsOf(command)].map((key) => ownText(key, catalog))),
        ...(job ? jobText(catalog) : []),
    ].join('\n');
}

export const overview = (): string =>
    [
        say('cli.about'),
        '',
        say('cli.usage', { line: `fourfold ${say('cli.head.command')}` }),
        '',
        `${say('cli.commands')}:`,
        table(commands.map((command) => [`  ${command}`, say(`cli.command.${command}`)])),
        '',
        say('cli.more_help'),
        `  ${EXAMPLE.join(' ')}`,
    ].join('\n');
