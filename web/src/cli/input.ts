// What a file, standard input or an argument holds, and the part of a job that it gives.
import type { Catalog, Imported, Json } from '../core/api';
import { queryOf } from '../state/link-text';
import { saidParts } from '../state/meant-part';
import { parseLink, request } from '../state/state';
import { say, tell } from '../words/words';
import type { TextCore } from './asked';
import type { Read } from './job';
import { readScript, type Said } from './script';

export type Input =
    | { kind: 'link'; query: string }
    | { kind: 'job'; text: string }
    | { kind: 'config'; text: string }
    | { kind: 'import'; text: string };

// A config.json names its model; sizes alone may stand in a file of gpt-neox too, whose keys may be written with "-".
const NAMES_A_MODEL = ['model_type', 'architectures', 'text_config'];
const SIZES = ['hidden_size', 'n_embd', 'd_model', 'dim', 'num_hidden_layers'];
const OF_NEOX = ['pipe_parallel_size', 'model_parallel_size', 'train_micro_batch_size_per_gpu', 'checkpoint_num_layers'];
const OF_DEEPSPEED = ['zero_optimization', 'train_batch_size', 'train_micro_batch_size_per_gpu', 'gradient_accumulation_steps'];

export const isLink = (text: string): boolean => queryOf(text) !== null;

// The one place that decides what a text is. What is none of the others is a file of another program.
export function inputOf(text: string): Input {
    const bare = text.trim();
    const query = queryOf(text);
    if (query !== null) return { kind: 'link', query };
    if (!bare.startsWith('{')) return { kind: 'import', text };
    try {
        const parsed = JSON.parse(bare) as { [key: string]: Json };
        const has = (keys: readonly string[]): boolean => keys.some((key) => key in parsed || key.replaceAll('_', '-') in parsed);
        if (has(NAMES_A_MODEL)) return { kind: 'config', text };
        if (has(OF_NEOX)) return { kind: 'import', text };
        return { kind: has(SIZES) ? 'config' : has(OF_DEEPSPEED) ? 'import' : 'job', text };
    } catch {
        // gpt-neox's files have comments; of another text the core says where it stops being JSON
        const names = (keys: readonly string[]): boolean => keys.some((key) => bare.replaceAll('-', '_').includes(`"${key}"`));
        return { kind: names([...OF_NEOX, ...OF_DEEPSPEED]) ? 'import' : 'job', text };
    }
}

// What the configuration class says is what its author means; the rest is a guess of ours, or is left out.
const CLASS_DEFAULT = 'import.class_default';

const nothing: Read = { job: {}, refusal: null, complaints: [], notes: [] };

function readJob(text: string, core: TextCore): Read {
    try {
        return { ...nothing, job: JSON.parse(text) };
    } catch {
        return { ...nothing, refusal: core.estimate(text) };
    }
}

function readConfig(text: string, core: TextCore): Read {
    const answer = core.import_config(text);
    const imported = JSON.parse(answer) as Imported;
    if (!imported.ok) return { ...nothing, refusal: answer };
    const doubtful = imported.assumed.filter(({ why }) => why.id !== CLASS_DEFAULT);
    return {
        ...nothing,
        job: { model: imported.model },
        notes: doubtful.map(({ key, why }) => say('cli.problem', { option: key, text: tell(why) })),
    };
}

function readQuery(query: string, catalog: Catalog): Read {
    const { job, unknown, newer } = parseLink(query, catalog);
    const notes = [
        unknown.length > 0 && say('cli.link_parts', { details: saidParts(unknown, catalog) }),
        newer && say('cli.link_newer'),
    ].filter((note) => note !== false);
    return { ...nothing, job: request(job), notes };
}

// `name`: of the file, for what is said about it.
export async function readInput(name: string, text: string, core: TextCore, catalog: Catalog, said: Said): Promise<Read> {
    const input = inputOf(text);
    if (input.kind === 'link') return readQuery(input.query, catalog);
    if (input.kind === 'job') return readJob(input.text, core);
    if (input.kind === 'config') return readConfig(input.text, core);
    return readScript(name, input.text, core, catalog, said);
}
