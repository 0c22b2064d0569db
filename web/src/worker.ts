// One instance of the core in a thread of its own. The first message brings the compiled module; every further one is a question,
// answered under the same id.
import createModule from 'fourfold-core';
import type { Fourfold, Refusal, SearchColumns, SearchSummary } from './api';
import { choicesOf, type HeatFilter, indexRows, quickestOf } from './heat';

export type Call =
    | 'catalog'
    | 'import_config'
    | 'estimate'
    | 'timeline'
    | 'search'
    | 'rank'
    | 'merge_rankings'
    | 'versus'
    | 'limits'
    | 'calibrate'
    | 'read_links';
export interface Question {
    id: number;
    call: Call;
    text: string;
    filter?: HeatFilter;
}
export type Reply = { id: number; value: unknown } | { id: number; crash: string };

let core: Promise<Fourfold> | undefined;

function search(fourfold: Fourfold, text: string, filter: HeatFilter) {
    const all = fourfold.search(text);
    const filtered = Object.keys(filter).length > 0;
    const shown = filtered ? fourfold.search(JSON.stringify({ ...JSON.parse(text), ...filter })) : all;
    const { columns } = shown;
    const summary = JSON.parse(shown.summary) as SearchSummary | Refusal;
    return { summary, columns, ...indexRows(columns), quickest: quickestOf(columns), choices: choicesOf(all.columns) };
}

async function answer({ call, text, filter = {} }: Question): Promise<unknown> {
    if (!core) throw new Error('asked before the module came');
    const fourfold = await core;
    if (call === 'search') return search(fourfold, text, filter);
    return JSON.parse(call === 'catalog' ? fourfold.catalog() : fourfold[call](text));
}

// Large columns change hands instead of being copied.
const transferable = (value: unknown): Transferable[] => {
    const columns = (value as { columns?: SearchColumns }).columns;
    return columns ? Object.values(columns as unknown as Record<string, { buffer: ArrayBuffer }>).map((column) => column.buffer) : [];
};

addEventListener('message', async ({ data }: MessageEvent<WebAssembly.Module | Question>) => {
    if (data instanceof WebAssembly.Module) {
        core = createModule({
            instantiateWasm(imports, done) {
                WebAssembly.instantiate(data, imports).then((instance) => done(instance, data));
                return {};
            },
        });
        return;
    }
    try {
        const value = await answer(data);
        postMessage({ id: data.id, value } satisfies Reply, { transfer: transferable(value) });
    } catch (error) {
        postMessage({ id: data.id, crash: String(error) } satisfies Reply);
    }
});
