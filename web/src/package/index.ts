// The door of the package "fourfold": the functions of core/api.h as promises, what they say in words, and the links of the page.
import type {
    Answers,
    Catalog,
    Fourfold,
    JobRequest,
    Placed,
    PlaceRequest,
    Problem,
    Refusal,
    Requests,
    SearchColumns,
    Text,
} from '../core/api';
import { exportChosen } from '../core/chosen';
import { problemText } from '../shared/names';
import { formatLink, parseLink, pinOf, request } from '../state/state';
import type { Language } from '../words/language';
import { tell as sentenceOf } from '../words/words';
import { core } from './core';
import { speakAll } from './words';

export type * from '../core/api';
export type { Language } from '../words/language';
export { core };

type Asked =
    | 'estimate'
    | 'alternatives'
    | 'timeline'
    | 'import_plan'
    | 'find_models'
    | 'read_run'
    | 'rank'
    | 'versus'
    | 'limits'
    | 'phases'
    | 'pools'
    | 'calibrate'
    | 'read_links';

const ask =
    <Name extends Asked>(name: Name) =>
    async (request: Requests[Name]): Promise<Answers[Name]> =>
        JSON.parse((await core())[name](JSON.stringify(request)));

export const catalog = async (): Promise<Catalog> => JSON.parse((await core()).catalog());
// The text of a config.json, or what was parsed from it.
export const importConfig = async (config: string | Requests['import_config']): Promise<Answers['import_config']> =>
    JSON.parse((await core()).import_config(typeof config === 'string' ? config : JSON.stringify(config)));
export const estimate: (request: Requests['estimate']) => Promise<Answers['estimate']> = ask('estimate');
export const alternatives: (request: Requests['alternatives']) => Promise<Answers['alternatives']> = ask('alternatives');
export const timeline: (request: Requests['timeline']) => Promise<Answers['timeline']> = ask('timeline');
export const importPlan: (request: Requests['import_plan']) => Promise<Answers['import_plan']> = ask('import_plan');
export const findModels: (request: Requests['find_models']) => Promise<Answers['find_models']> = ask('find_models');
export const readRun: (request: Requests['read_run']) => Promise<Answers['read_run']> = ask('read_run');
// What the job leaves open is chosen first, as by estimate().
export async function exportPlan({ format, release, hosts, ...job }: Requests['export_plan']): Promise<Answers['export_plan']> {
    const asked = { ...(format && { format }), ...(release && { release }), ...(hosts && { hosts }) };
    return JSON.parse(exportChosen(await core(), job, asked));
}
export const rank: (request: Requests['rank']) => Promise<Answers['rank']> = ask('rank');
export const versus: (request: Requests['versus']) => Promise<Answers['versus']> = ask('versus');
export const phases: (request: Requests['phases']) => Promise<Answers['phases']> = ask('phases');
export const pools: (request: Requests['pools']) => Promise<Answers['pools']> = ask('pools');
export const limits: (request: Requests['limits']) => Promise<Answers['limits']> = ask('limits');
export const calibrate: (request: Requests['calibrate']) => Promise<Answers['calibrate']> = ask('calibrate');
export const readLinks: (request: Requests['read_links']) => Promise<Answers['read_links']> = ask('read_links');

export interface SearchAnswer {
    summary: Answers['search'];
    columns: SearchColumns;
}
export async function search(request: Requests['search']): Promise<SearchAnswer> {
    const { summary, columns } = (await core()).search(JSON.stringify(request));
    return { summary: JSON.parse(summary), columns };
}

// `goOn` is asked every 16,384 moves with a PlaceProgress as JSON; false ends the search with the best so far.
export const place = async (request: PlaceRequest, goOn: Parameters<Fourfold['place']>[1] = null): Promise<Placed | Refusal> =>
    JSON.parse((await core()).place(JSON.stringify(request), goOn));

// ---- words
// From now on sentences are in this language. Before the first call nothing can be said.
export const speak: (language: Language) => Promise<void> = speakAll;
export const tell: (text: Text | null) => string = sentenceOf;
export const problem: (one: Problem) => string = problemText;

// ---- links of the page
export async function readLink(link: string): Promise<JobRequest> {
    return request(parseLink(link.replace(/^[^?]*/, '').replace(/#.*$/, ''), await catalog()).job);
}

// From the job of an answer; to be put behind the address of a page.
export async function writeLink(job: JobRequest): Promise<string> {
    const all = await catalog();
    return formatLink(pinOf(job, all).job, all);
}
