// Models that the catalogue lacks, by what a reader types where a model is asked for. What knows them comes with the first question.
import type { FoundModel } from '../core/api';
import { findModels } from '../formats/reader';
import { type Job, withConfig } from '../state/state';
import { fetchWords, listed, say, sentences, tell } from '../words/words';
import { isWhole } from './model-search';

export interface AlsoKnown {
    title: string; // of the models, or what is to be said where there are none; '': nothing
    said: string; // title and models, for the ear
    near: boolean; // none has that name: one is spelled alike
    models: FoundModel[];
}

const SAID = 5;
// What is trained, not a model.
const ADAPTERS = /(^|[\s,;:/_-])(q?lora|adapters?|peft)(?![a-z])/gi;

export async function alsoKnown(typed: string): Promise<AlsoKnown> {
    const text = typed.normalize('NFKC');
    const words = text.replace(ADAPTERS, ' ').trim();
    const [answer] = await Promise.all([words ? findModels({ words }) : null, fetchWords('formats', 'names')]);
    const models = answer?.ok ? answer.models : [];
    const near = answer?.ok === true && answer.match === 'near';
    const adapters =
        text.search(ADAPTERS) >= 0 && say('formats.models.adapters', { field: tell({ id: 'field.trained' }), detail: say('depth.detail') });
    // "gpt-4" begins "GPT-3 40B": that is not what was typed, unless more is to come
    const exact = models.some((model) => isWhole({ ...model, label: `${model.label} ${model.names.join(' ')}` }, words));
    const found = near ? say('formats.models.near') : exact ? say('formats.models.also') : say('formats.models.begins', { typed: words });
    const title = sentences(adapters, models.length > 0 && found);
    return { title, said: sentences(title, listed(models.slice(0, SAID).map(({ label }) => label))), near, models };
}

// The model of a job by another name than the page's list has, as it is taken from there; any other one stays what it is.
export async function withKnown(job: Job): Promise<Job> {
    const answer = await findModels({ words: String(job.model) });
    const model = answer.ok && answer.match === 'name' ? answer.models[0]?.model : undefined;
    if (model === undefined) return job;
    return typeof model === 'string' ? { ...job, model } : withConfig(job, model);
}
