// Published runs that everybody knows, as jobs of this page. What was published stands in famous.json; what the page says of them is
// worked out by the core when the table is there.
import type { Catalog, Estimate, Refusal } from '../core/api';
import { type Core, CoreCrash } from '../core/client';
import { defaults, figures, type Job, type Value, withConfig } from '../state/state';
import data from './famous.json';

export interface Published {
    seconds?: number; // of a step
    tokens_per_s_per_gpu?: number;
    tflops?: number; // a second and GPU
    rate?: string; // the convention that they were counted by, an id of the answer's rates
    memory_gib?: number; // the most that a GPU reserved
}
export interface Run {
    id: string;
    name: string;
    source: { title: string; url: string };
    published: Published;
    request: { readonly [key: string]: Value | { readonly [key: string]: Value } };
}
const { every, runs } = data as unknown as { every: Run['request']; runs: Run[] };
export const famousRuns: readonly Run[] = runs;

export const requestOf = (run: Run): Run['request'] => ({ ...every, ...run.request });

// The whole job: nothing of its plan is left to the search.
export function jobOf(run: Run, catalog: Catalog): Job {
    const { model, ...rest } = requestOf(run);
    const job = { ...defaults(catalog), ...rest } as Job;
    return typeof model === 'object' ? withConfig(job, model) : { ...job, model: String(model) };
}

// The published speed as the time of a step.
export function secondsOf({ published, request: asked }: Run, { time }: Estimate): number | null {
    const { seconds, tokens_per_s_per_gpu: tokens, tflops, rate } = published;
    if (seconds !== undefined) return seconds;
    if (tokens !== undefined) return time.tokens_per_step / (Number(asked.gpus) * tokens);
    const ours = time.rates.find(({ id }) => id === rate);
    return tflops !== undefined && ours ? (ours.tflop_per_s_per_gpu * time.step_seconds) / tflops : null;
}

// ---- one after the other, on an instance of the core that goes when they are done
export type Prover = Pick<Core, 'estimate' | 'stop' | 'end'>;
export type Answers = Readonly<Record<string, Estimate | Refusal>>;
export interface Progress {
    answers: Answers;
    state: 'running' | 'stopped' | 'failed' | 'done';
}

export function prove(prover: Prover, catalog: Catalog, known: Answers, told: (progress: Progress) => void): () => void {
    let stopped = false;
    let answers = known;
    const go = async (): Promise<void> => {
        for (const run of famousRuns) {
            if (run.id in answers) continue;
            const answer = await prover.estimate(figures(jobOf(run, catalog)));
            if (stopped) return;
            answers = { ...answers, [run.id]: answer };
            told({ answers, state: 'running' });
        }
        prover.end();
        told({ answers, state: 'done' });
    };
    go().catch((error: unknown) => {
        if (!(error instanceof CoreCrash)) throw error;
        if (!stopped) told({ answers, state: 'failed' });
    });
    return () => {
        if (stopped) return;
        stopped = true;
        prover.stop();
        told({ answers, state: 'stopped' });
    };
}
