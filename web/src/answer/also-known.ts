// Models that the catalogue lacks, by what a reader types where a model is asked for. What knows them comes with the first question.
import type { FoundModel } from '../core/api';
import { findModels } from '../formats/reader';
import { type Job, withConfig } from '../state/state';
import { fetchWords, listed, say, sentences, tell } from '../words/words';
import { isWhole, search, withoutUsual, wordsOf } from './model-search';

export interface AlsoKnown {
    title: string; // of the models, or what is to be said where there are none; '': nothing
    said: string; // title and models, for the ear
    near: boolean; // none has that name: one is spelled alike
    vague: boolean; // the first may be another one than was meant: it is taken by who points at it
    models: FoundModel[];
    sets?: Job; // what was typed besides, of each of them
}

const SAID = 5;
// What is trained, not a model; and the words around it.
const ADAPTERS = /(^|[\s,;:/_-])(q?lora|adapters?|peft)(?![a-z])/gi;
const AROUND = /(^|\s)(fine-?tun\w*|sft|of|for|with|on)(?=\s|$)/gi;
const PACKED: Job = { frozen_weights: 'nf4' };

// "gpt-5" is not "GPT-3 5B": the size without the number that comes before it. "405" is no version.
function isSizeAlone({ label }: FoundModel, words: string[]): boolean {
    const numbers = wordsOf(label).filter((word) => /^\d/.test(word));
    const isOpen = (word: string): boolean => /^(\d{1,2}|\d*\.[\d.]*)$/.test(word) && !numbers.includes(word);
    return words.some(isOpen) && !numbers.every((number) => words.some((word) => number.startsWith(word)));
}

export async function alsoKnown(typed: string): Promise<AlsoKnown> {
    const text = typed.normalize('NFKC');
    const isTuned = text.search(ADAPTERS) >= 0;
    const words = withoutUsual((isTuned ? text.replace(ADAPTERS, ' ').replace(AROUND, ' ') : text).trim());
    const [answer] = await Promise.all([words ? findModels({ words }) : null, fetchWords('formats', 'names')]);
    const found = answer?.ok ? answer.models : [];
    const models = isTuned ? [...new Set([...search(found, words), ...found])] : found; // in the order of the page's own
    const near = answer?.ok === true && answer.match === 'near';
    const alone = isTuned && say('formats.models.adapters', { field: tell({ id: 'field.trained' }), detail: say('depth.detail') });
    // "gpt-4" begins "GPT-3 40B": that is not what was typed, unless more is to come
    const exact = models.map((model) => isWhole({ ...model, label: `${model.label} ${model.names.join(' ')}` }, words));
    const sizes = models.map((model) => isSizeAlone(model, wordsOf(words)));
    const vague = near || !exact[0] || sizes[0] === true;
    const said =
        near || (exact[0] && vague)
            ? say('formats.models.near')
            : exact.includes(true)
              ? say('formats.models.also')
              : say('formats.models.begins', { typed: words });
    const title = sentences(models.length > 0 ? said : alone);
    const named = models.map((model) => ({ ...model, label: isTuned ? say('answer.adapters', { model: model.label }) : model.label }));
    const heard = sentences(title, listed(named.slice(0, SAID).map(({ label }) => label)));
    return {
        title,
        said: heard,
        near,
        vague,
        models: named,
        ...(isTuned && { sets: { trained: 'lora', ...(/qlora/i.test(text) && PACKED) } }),
    };
}

// The model of a job by another name than the page's list has, as it is taken from there; any other one stays what it is.
export async function withKnown(job: Job): Promise<Job> {
    const answer = await findModels({ words: String(job.model) });
    const model = answer.ok && answer.match === 'name' ? answer.models[0]?.model : undefined;
    if (model === undefined) return job;
    return typeof model === 'string' ? { ...job, model } : withConfig(job, model);
}
