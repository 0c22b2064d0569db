// Models that the catalogue lacks, by what a reader types where a model is asked for. What knows them comes with the first question.
import type { FoundModel } from '../core/api';
import { findModels } from '../formats/reader';
import { type Job, withConfig } from '../state/state';
import { fetchWords, listed, say, sentences } from '../words/words';

export interface AlsoKnown {
    title: string; // of the models
    said: string; // title and models, for the ear
    near: boolean; // none has that name: one is spelled alike
    models: FoundModel[];
}

const SAID = 5;

export async function alsoKnown(typed: string): Promise<AlsoKnown> {
    const [answer] = await Promise.all([findModels({ words: typed.normalize('NFKC').trim() }), fetchWords('formats')]);
    const models = answer.ok ? answer.models : [];
    const near = answer.ok && answer.match === 'near';
    const title = say(near ? 'formats.models.near' : 'formats.models.also');
    return {
        title,
        said: models.length > 0 ? sentences(title, listed(models.slice(0, SAID).map(({ label }) => label))) : '',
        near,
        models,
    };
}

// The model of a job by another name than the page's list has, as it is taken from there; any other one stays what it is.
export async function withKnown(job: Job): Promise<Job> {
    const answer = await findModels({ words: String(job.model) });
    const model = answer.ok && answer.match === 'name' ? answer.models[0]?.model : undefined;
    if (model === undefined) return job;
    return typeof model === 'string' ? { ...job, model } : withConfig(job, model);
}
