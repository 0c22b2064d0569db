// Which layers stand on which chunk of the pipeline, in Megatron's notation (--pipeline-model-parallel-layout): chunks in the order of the
// model with "|" between them; E embedding, t layer, m multi-token prediction, L loss; "t*7" and "(tt|)*14" repeat. Whether a layout works is
// the core's to say; here it is only read, drawn and written.
import type { Json } from './api';

export interface Chunk {
    embedding: boolean;
    layers: number;
    predictions: number; // layers of multi-token prediction
    loss: boolean;
}

const LONGEST = 20_000; // characters, repeats written out

const repeat = (part: string, times: string): string => {
    const count = Number(times);
    return part.length * count > LONGEST ? '?' : part.repeat(count);
};

// null when it is no such text.
export function parseLayout(text: string): Chunk[] | null {
    const bare = text.replace(/[,\s]/g, '');
    const whole = bare
        .replace(/\(([^()]*)\)\*(\d{1,4})/g, (_, part: string, times: string) => repeat(part, times))
        .replace(/([EtmL])\*(\d{1,4})/g, (_, part: string, times: string) => repeat(part, times));
    if (!/^[EtmL|]+$/.test(whole) || whole.length > LONGEST) return null;
    const count = (chunk: string, letter: string): number => chunk.split(letter).length - 1;
    return whole.split('|').map((chunk) => ({
        embedding: chunk.includes('E'),
        layers: count(chunk, 't'),
        predictions: count(chunk, 'm'),
        loss: chunk.includes('L'),
    }));
}

const letters = (letter: string, count: number): string => (count > 3 ? `${letter}*${count}` : letter.repeat(count));

const writeChunk = ({ embedding, layers, predictions, loss }: Chunk): string =>
    `${embedding ? 'E' : ''}${letters('t', layers)}${letters('m', predictions)}${loss ? 'L' : ''}`;

// Equal neighbours, as one entry with their number.
function runsOf<Value>(values: readonly Value[]): { value: Value; count: number }[] {
    const runs: { value: Value; count: number }[] = [];
    for (const value of values) {
        const last = runs.at(-1);
        if (last?.value === value) last.count++;
        else runs.push({ value, count: 1 });
    }
    return runs;
}

export function writeLayout(chunks: readonly Chunk[]): string {
    const texts = chunks.map(writeChunk);
    const before = runsOf(texts.slice(0, -1)).map(({ value, count }) => (count > 1 ? `(${value}|)*${count}` : `${value}|`));
    return before.join('') + (texts.at(-1) ?? '');
}

// Layers of the chunks, equal neighbours together: 7, 14 × 8, 7.
export const layerRuns = (chunks: readonly Chunk[]): { layers: number; count: number }[] =>
    runsOf(chunks.map(({ layers }) => layers)).map(({ value, count }) => ({ layers: value, count }));

// Where a chunk of the model stands. In a V-shaped schedule every other chunk runs through the stages backwards.
export function placeOf(position: number, stages: number, vShaped: boolean): { stage: number; chunk: number } {
    const chunk = Math.floor(position / stages);
    const inside = position % stages;
    return { stage: vShaped && chunk % 2 === 1 ? stages - 1 - inside : inside, chunk };
}

type Resolved = { readonly [key: string]: Json }; // the job of an answer

// With as many layers on every chunk: what a layout of the reader's own starts from.
function evenChunks(job: Resolved, stageLayers: readonly number[], predictions: number): Chunk[] | null {
    const stages = stageLayers.length;
    const perStage = Number(job.virtual_stages);
    const last = stages * perStage - 1;
    const missing = (position: number): number =>
        Number(position === 0 && job.count_embedding_as_layer === true) + Number(position === last && job.count_loss_as_layer === true);
    const stageOf = (position: number): number => placeOf(position, stages, job.schedule === 'zb-v').stage;
    const positions = Array.from({ length: last + 1 }, (_, position) => position);
    const ofStage = stageLayers.map((layers, stage) =>
        positions.filter((position) => stageOf(position) === stage).reduce((sum, position) => sum + missing(position), layers),
    );
    const chunks = positions.map((position) => ({
        embedding: position === 0,
        layers: (ofStage[stageOf(position)] ?? 0) / perStage - missing(position),
        predictions: position === last ? predictions : 0,
        loss: position === last,
    }));
    return chunks.every(({ layers }) => Number.isInteger(layers) && layers >= 0) ? chunks : null;
}

// The chunks of a plan that was worked out, of a model with so many layers of multi-token prediction; null where the answer does not know
// every stage.
export function chunksOf(job: Resolved, stageLayers: readonly number[], predictions = 0): Chunk[] | null {
    const stages = Number(job.pipeline_parallel);
    if (stages < 2 || stageLayers.length !== stages) return null;
    const chunks = parseLayout(String(job.layout)) ?? evenChunks(job, stageLayers, predictions);
    return chunks?.length === stages * Number(job.virtual_stages) ? chunks : null;
}

// One layer from a chunk to its neighbour in the model: the next one, or for the last the one before. null where there is none to take.
export function moveLayer(chunks: readonly Chunk[], at: number, more: boolean): Chunk[] | null {
    const other = at < chunks.length - 1 ? at + 1 : at - 1;
    const [from, to] = more ? [other, at] : [at, other];
    if ((chunks[from]?.layers ?? 0) < 1 || !chunks[to]) return null;
    const change = (position: number): number => Number(position === to) - Number(position === from);
    return chunks.map((chunk, position) => ({ ...chunk, layers: chunk.layers + change(position) }));
}
