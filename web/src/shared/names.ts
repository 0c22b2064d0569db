// The words of what the core names by an id: the item "weights" is "item.weights", its explanation "item.weights.summary".
import type { Catalog, Field, Problem } from '../core/api';
import { isGpuKey } from '../state/state';
import { isSaid, say, sentences, tell } from '../words/words';

type Family = 'item' | 'group' | 'time' | 'rate' | 'method' | 'rule' | `choice.${string}`;
interface Named {
    id: string;
}

// By its id in a family; what has no words there is said as it is.
export function wordsFor(family: string, id: string): string {
    const words = `${family}.${id}`;
    return isSaid(words) ? tell({ id: words }) : id;
}

// Not everything needs an explanation.
const about = (id: string): string => (isSaid(id) ? tell({ id }) : '');

export const nameOf = (family: Family, { id }: Named): string => tell({ id: `${family}.${id}` });
export const aboutOf = (family: Family, { id }: Named): string => about(`${family}.${id}.summary`);
export const helpOf = (family: Family, { id }: Named): string => about(`${family}.${id}.help`);

export const fieldName = ({ key }: Field): string => tell({ id: `field.${key}` });
export const fieldHelp = ({ key }: Field): string => about(`field.${key}.help`);
export const choiceName = (field: { key: string }, choice: Named): string => nameOf(`choice.${field.key}`, choice);
export const choiceHelp = (field: { key: string }, choice: Named): string => helpOf(`choice.${field.key}`, choice);

// Of a set as a text ("core_attn,mlp"), what is in it, in the order of the choices.
export function chosenOf(catalog: Catalog, key: string, value: string): { id: string; name: string }[] {
    const field = catalog.fields.find((one) => one.key === key);
    const ids = value.split(',');
    const chosen = field?.type === 'set' ? field.choices.filter(({ id }) => ids.includes(id)) : [];
    return chosen.map((choice) => ({ id: choice.id, name: choiceName({ key }, choice) }));
}
export const chosenNames = (catalog: Catalog, key: string, value: string): string[] =>
    chosenOf(catalog, key, value).map(({ name }) => name);

export function labelOf(fields: readonly Field[], key: string): string {
    const elsewhere: Record<string, () => string> = {
        model: () => say('form.model'),
        gpu: () => say('form.gpu'),
        cluster: () => say('adjust.cluster'),
        method: () => say('counting.title'),
        'gpu.name': () => say('own_gpu.name'),
        'gpu.base': () => say('own_gpu.base'),
    };
    if (!elsewhere[key] && isGpuKey(key)) return tell({ id: key.replace('gpu', 'field') });
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
export const unitText = (n: number, unit: string): string => (isSaid(`unit.${unit}`) ? tell({ id: `unit.${unit}`, args: { n } }) : unit);

// In the middle of a sentence. A name stays as it is.
export const lower = (label: string): string =>
    /^(?!Adam|Mega|Transf)[A-Z][a-z]+\b/.test(label) ? label.charAt(0).toLowerCase() + label.slice(1) : label;
