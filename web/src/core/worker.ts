// The core in a thread of its own.
import createModule from 'fourfold-core';
import type { Fourfold, LinksGiven, Placed, PlaceProgress, Refusal, SearchSummary } from './api';
import { choicesOf, type HeatFilter, indexRows, quickestOf } from './heat';
import { FIRST, type Question, type Reply, serve } from './serve';

function search(fourfold: Fourfold, text: string, filter: HeatFilter) {
    const all = fourfold.search(text);
    const filtered = Object.keys(filter).length > 0;
    const shown = filtered ? fourfold.search(JSON.stringify({ ...JSON.parse(text), ...filter })) : all;
    const { columns } = shown;
    const summary = JSON.parse(shown.summary) as SearchSummary | Refusal;
    return { summary, columns, ...indexRows(columns), quickest: quickestOf(columns), choices: choicesOf(all.columns) };
}

const TOLD_MS = 100; // from one word of progress to the next

const movesOf = (progress: string): number => (JSON.parse(progress) as PlaceProgress).moves;

// The core has no clock: it asks whether to go on, and is stopped at the end of its time.
function place(fourfold: Fourfold, { id, text, links, seconds = Number.POSITIVE_INFINITY }: Question): unknown {
    const named: LinksGiven | undefined = links && (links.gpus ? { gpus: links.names } : { nodes: links.names });
    const request = named ? JSON.stringify({ ...JSON.parse(text), links: named }) : text;
    const started = performance.now();
    let told = started;
    let first: { moves: number; at: number } | null = null;
    const goOn = (progress: string): boolean => {
        const now = performance.now();
        first ??= { moves: movesOf(progress), at: now };
        if (now - told >= TOLD_MS) {
            told = now;
            postMessage({ id, progress: JSON.parse(progress) } satisfies Reply);
        }
        return now - started < seconds * 1000;
    };
    const answer = JSON.parse(fourfold.place(request, goOn, links?.rates ?? null, links?.latencies ?? null)) as Placed | Refusal;
    // How fast it goes once a large matrix is read: that takes longer than many moves.
    const begun = first as { moves: number; at: number } | null;
    if (!answer.ok || !begun || !links) return answer;
    return { ...answer, moves_per_s: (answer.moves - begun.moves) / Math.max((performance.now() - begun.at) / 1000, 1e-3) };
}

function answer(fourfold: Fourfold, question: Question): unknown {
    const { call, text, filter = {} } = question;
    if (call === 'search') return search(fourfold, text, filter);
    if (call === 'place') return place(fourfold, question);
    if (call === 'measure') throw new Error('measurements are read elsewhere: formats/reader-worker.ts');
    return call === 'catalog' ? fourfold.catalog(text === 'sources') : fourfold[call](text);
}

serve(createModule, answer, (call) => !FIRST.has(call));
