// A module in a thread of its own. One message brings the compiled code, one its second file where it has one; every other one is a question,
// answered under the same id. Questions may come before the code.
import type { SearchColumns } from './api';
import type { HeatFilter } from './heat';
import { type Create, instantiate, SecondLacks } from './instantiate';
import type { LinkColumns, LinksSaid } from './types';

export type Call =
    | 'catalog'
    | 'import_config'
    | 'estimate'
    | 'timeline'
    | 'import_plan'
    | 'find_models'
    | 'read_run'
    | 'export_plan'
    | 'search'
    | 'alternatives'
    | 'rank'
    | 'versus'
    | 'limits'
    | 'phases'
    | 'pools'
    | 'calibrate'
    | 'measure'
    | 'place';
// What the first file of the core answers, as most ask it (wasm/asked.mjs).
export const FIRST: ReadonlySet<Call> = new Set(['catalog', 'estimate']);
export interface Second {
    second: WebAssembly.Module;
}
export interface Question {
    id: number;
    call: Call;
    text: string;
    filter?: HeatFilter;
    said?: LinksSaid; // of a measurement
    links?: LinkColumns; // a measurement that is not in the text
    seconds?: number; // when a placement must be done
    whole?: boolean; // the first file cannot answer it alone
}
export type Reply =
    | { id: number; value: unknown }
    | { id: number; progress: unknown }
    | { id: number; crash: string }
    | { id: number; lacks: 'second' } // the first file cannot answer it alone; the thread is of no use any more
    | { lock: string }; // held as long as this thread lives

// Large columns change hands instead of being copied.
const transferable = (value: unknown): Transferable[] => {
    const { columns, rates, latencies } = value as Partial<LinkColumns> & { columns?: SearchColumns };
    if (rates) return [rates, latencies].flatMap((column) => (column ? [column.buffer as ArrayBuffer] : []));
    return columns ? Object.values(columns as unknown as Record<string, { buffer: ArrayBuffer }>).map((column) => column.buffer) : [];
};

const isSecond = (data: unknown): data is Second => (data as Partial<Second> | null)?.second instanceof WebAssembly.Module;

// `needsSecond`: which questions wait for the second file.
export function serve<Functions>(
    create: Create<Functions>,
    answer: (functions: Functions, question: Question) => unknown,
    needsSecond: (call: Call) => boolean = () => false,
): void {
    let start = (_: WebAssembly.Module): void => {};
    let complete = (_: WebAssembly.Module): void => {};
    const instance = new Promise<WebAssembly.Module>((resolve) => {
        start = resolve;
    }).then((module) => instantiate(create, module));
    const whole = new Promise<WebAssembly.Module>((resolve) => {
        complete = resolve;
    }).then(async (second) => (await instance).add(second));
    for (const one of [instance, whole]) one.catch(() => {}); // every question meets it
    addEventListener('message', async ({ data }: MessageEvent<WebAssembly.Module | Second | Question | null>) => {
        if (data instanceof WebAssembly.Module) return start(data);
        if (isSecond(data)) return complete(data.second);
        if (typeof data?.id !== 'number') return; // not from the page's own side
        try {
            const { functions } = await instance;
            if (needsSecond(data.call) || data.whole) await whole;
            const value = answer(functions, data);
            postMessage({ id: data.id, value } satisfies Reply, { transfer: transferable(value) });
        } catch (error) {
            const reply: Reply = error instanceof SecondLacks ? { id: data.id, lacks: 'second' } : { id: data.id, crash: String(error) };
            postMessage(reply);
        }
    });
    if ('locks' in navigator && 'randomUUID' in crypto) holdLock();
}

// The browser gives the lock to the page, which waits for it, when this thread has ended, however that came about: see alive.ts. Without
// locks (an insecure address, a frame of no origin) the page has to go by how long nothing is heard.
function holdLock(): void {
    const lock = `fourfold-${crypto.randomUUID()}`;
    const forever = new Promise<never>(() => {});
    navigator.locks
        .request(lock, () => {
            postMessage({ lock } satisfies Reply);
            return forever;
        })
        .catch(() => {});
}
