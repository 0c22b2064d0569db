// The words of what the core names by an id: the item "weights" is "item.weights", its explanation "item.weights.summary".
import type { Catalog, Field, Problem, Said, Worded } from '../core/api';
import { isSaid, say, sentences, tell } from '../words/words';

type Family = 'item' | 'group' | 'time' | 'rate' | 'method' | 'rule' | 'schedule' | `choice.${string}`;
interface Named extends Worded {
    id: string;
}

// By its id in a family; what has no words there is said as it is.
export function wordsFor(family: string, said: Said | undefined): string {
    const id = typeof said === 'string' ? `${family}.${said}` : '';
    return isSaid(id) ? tell({ id }) : tell(said);
}

// What the core gives goes before what the catalogue has; not everything needs an explanation.
const name = (given: Said | undefined, id: string): string => (given === undefined ? tell({ id }) : tell(given));
const about = (given: Said | undefined, id: string): string => (given === undefined ? (isSaid(id) ? tell({ id }) : '') : tell(given));

export const nameOf = (family: Family, { id, label }: Named): string => name(label, `${family}.${id}`);
export const aboutOf = (family: Family, { id, summary }: Named): string => about(summary, `${family}.${id}.summary`);
export const helpOf = (family: Family, { id, help }: Named): string => about(help, `${family}.${id}.help`);

export const fieldName = ({ key, label }: Field): string => name(label, `field.${key}`);
export const fieldHelp = ({ key, help }: Field): string => about(help, `field.${key}.help`);
export const choiceName = (field: { key: string }, choice: Named): string => nameOf(`choice.${field.key}`, choice);
export const choiceHelp = (field: { key: string }, choice: Named): string => helpOf(`choice.${field.key}`, choice);

// Of the other method in a comparison.
export const methodName = ({ method, label }: { method: string; label?: Said | undefined }): string =>
    nameOf('method', { id: method, label });

export function labelOf(fields: readonly Field[], key: string): string {
    const elsewhere: Record<string, () => string> = {
        model: () => say('form.model'),
        gpu: () => say('form.gpu'),
        cluster: () => say('adjust.cluster'),
        method: () => say('counting.title'),
    };
    const field = fields.find((one) => one.key === key);
    return elsewhere[key]?.() ?? (field ? fieldName(field) : key);
}

// Of a choice of the catalogue; an id that is none is said as it is.
export function choiceLabel({ fields }: Catalog, key: string, id: string): string {
    const field = fields.find((one) => one.key === key);
    const choice = field && 'choices' in field ? field.choices?.find((one) => one.id === id) : undefined;
    return choice ? choiceName({ key }, choice) : id;
}

export const messageOf = ({ message }: Problem): string => tell(message);
export const problemText = ({ message, suggestion }: Problem): string => sentences(tell(message), tell(suggestion));

// "3 layers", "1 layer".
export const unitText = (n: number, unit: string): string =>
    isSaid(`unit.${unit}`) ? tell({ id: `unit.${unit}`, args: { n } }) : unit;

// In the middle of a sentence.
export const lower = (label: string): string => (/^[A-Z][a-z]/.test(label) ? label.charAt(0).toLowerCase() + label.slice(1) : label);
