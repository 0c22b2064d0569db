// Which layers stand on which chunk of the pipeline, in Megatron's notation (--pipeline-model-parallel-layout): chunks in the order of the
// model with "|" between them; E embedding, t layer, m multi-token prediction, L loss; "t*7" and "(tt|)*14" repeat. Whether a layout works is
// the core's to say; here it is only read, drawn and written.
import type { Estimate, Stage } from '../core/api';

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

// What of an answer says where its layers stand.
export type Answered = Pick<Estimate, 'model'> & { job: Partial<Estimate['job']> } & { stages: readonly Pick<Stage, 'layers' | 'head'>[] };

// Then the end of the model lies on the first stage.
export const isVShaped = ({ stages }: Answered): boolean => stages[0]?.head === true && stages.at(-1)?.head === false;

// With as many layers on every chunk: what a layout of the reader's own starts from.
function evenChunks(answer: Answered): Chunk[] | null {
    const { job, model, stages } = answer;
    const perStage = Number(job.virtual_stages);
    const last = stages.length * perStage - 1;
    const missing = (position: number): number =>
        Number(position === 0 && job.count_embedding_as_layer === true) + Number(position === last && job.count_loss_as_layer === true);
    const vShaped = isVShaped(answer);
    const stageOf = (position: number): number => placeOf(position, stages.length, vShaped).stage;
    const positions = Array.from({ length: last + 1 }, (_, position) => position);
    const ofStage = stages.map(({ layers }, stage) =>
        positions.filter((position) => stageOf(position) === stage).reduce((sum, position) => sum + missing(position), layers),
    );
    const chunks = positions.map((position) => ({
        embedding: position === 0,
        layers: (ofStage[stageOf(position)] ?? 0) / perStage - missing(position),
        predictions: position === last ? Number(model.config.num_nextn_predict_layers ?? 0) : 0,
        loss: position === last,
    }));
    return chunks.every(({ layers }) => Number.isInteger(layers) && layers >= 0) ? chunks : null;
}

// The chunks of a plan that was worked out; null where the answer does not know every stage, or a stage holds more than its share.
export function chunksOf(answer: Answered): Chunk[] | null {
    const { job, model, stages } = answer;
    if (stages.length < 2 || stages.length !== Number(job.pipeline_parallel)) return null;
    const chunks = parseLayout(String(job.layout)) ?? evenChunks(answer);
    const all = chunks?.reduce((sum, { layers }) => sum + layers, 0);
    const whole = chunks?.length === stages.length * Number(job.virtual_stages) && all === Number(model.config.num_hidden_layers ?? all);
    return whole ? chunks : null;
}

// One layer from a chunk to its neighbour in the model: the next one, or for the last the one before. null where there is none to take.
export function moveLayer(chunks: readonly Chunk[], at: number, more: boolean): Chunk[] | null {
    const other = at < chunks.length - 1 ? at + 1 : at - 1;
    const [from, to] = more ? [other, at] : [at, other];
    if ((chunks[from]?.layers ?? 0) < 1 || !chunks[to]) return null;
    const change = (position: number): number => Number(position === to) - Number(position === from);
    return chunks.map((chunk, position) => ({ ...chunk, layers: chunk.layers + change(position) }));
}
