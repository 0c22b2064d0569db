// The page's side of a worker: questions out, promises back. A worker that fails is replaced. What it was asked is rejected when the
// question itself broke the instance; when the thread was lost, it is asked once more.
import { type Alive, watchOver } from './alive';
import type {
    Answers,
    CalibrateRequest,
    CollectivesRead,
    FlopConvention,
    JobRequest,
    LimitsRequest,
    Only,
    PlaceProgress,
    PlaceRequest,
    RankRequest,
    Refusal,
    Requests,
} from './api';
import type { Heat, HeatFilter } from './heat';
import { type Call, FIRST, type Question, type Reply, type Second } from './serve';
import type { AsTyped, LinkColumns, LinksSaid, Measured, PlacedHere, UnitSaid } from './types';

// `reason`: an id of the page's words, or what the browser said.
export class CoreCrash extends Error {
    constructor(
        reason: string,
        readonly askedTwice = false,
    ) {
        super(reason);
    }
}

// Whether the thread may try it before it has the second file.
const isFirst = ({ call, whole }: Question): boolean => FIRST.has(call) && !whole;

// As the reader has them.
export type RankAsked = Omit<RankRequest, 'only'> & { only: AsTyped<Only> };
export type LimitsAsked = Omit<LimitsRequest, 'days'> & Pick<AsTyped<LimitsRequest>, 'days'>;
export type PlaceAsked = Omit<PlaceRequest, 'links' | 'units'> & { units?: UnitSaid[] };

interface Waiting {
    question: Question;
    askedTwice: boolean;
    resolve(value: never): void;
    reject(error: CoreCrash): void;
    told?(progress: never): void;
}

export class Core {
    private worker: Worker | undefined;
    private alive: Alive | undefined;
    private complete = false; // the thread has the second file, or it is on its way
    private whole = false; // a question has shown that the first file is not enough
    private waiting = new Map<number, Waiting>();
    private lastId = 0;

    // `second`: the module's second file where it has one. It is fetched with the first question that needs it.
    constructor(
        private readonly create: () => Worker,
        private readonly module: () => Promise<WebAssembly.Module>,
        private readonly second?: () => Promise<WebAssembly.Module>,
    ) {}

    // Starts the thread before the first question.
    start(): void {
        this.running();
    }

    // With its sources it needs the module's second file.
    catalog = (sources = false): Promise<Answers['catalog']> => this.read('catalog', sources ? 'sources' : '', sources);
    importConfig = (text: string): Promise<Answers['import_config']> => this.read('import_config', text);
    importPlan = (request: Requests['import_plan']): Promise<Answers['import_plan']> => this.read('import_plan', JSON.stringify(request));
    findModels = (request: Requests['find_models']): Promise<Answers['find_models']> => this.read('find_models', JSON.stringify(request));
    readRun = (request: Requests['read_run']): Promise<Answers['read_run']> => this.read('read_run', JSON.stringify(request));
    // What explains its numbers has the module's second file.
    estimate = (job: Requests['estimate']): Promise<Answers['estimate']> =>
        this.read('estimate', JSON.stringify(job), job.explain !== false);
    timeline = (job: Requests['timeline']): Promise<Answers['timeline']> => this.read('timeline', JSON.stringify(job));
    exportPlan = (job: Requests['export_plan']): Promise<Answers['export_plan']> => this.read('export_plan', JSON.stringify(job));
    calibrate = (job: JobRequest, runs: string, convention: FlopConvention | null): Promise<Answers['calibrate']> =>
        this.read(
            'calibrate',
            JSON.stringify({ ...job, runs_text: runs, ...(convention && { flop_convention: convention }) } satisfies CalibrateRequest),
        );
    search = (job: Requests['search'], filter: HeatFilter): Promise<Heat | { summary: Refusal }> =>
        this.ask('search', JSON.stringify(job), { filter });
    alternatives = (job: Requests['alternatives']): Promise<Answers['alternatives']> => this.read('alternatives', JSON.stringify(job));
    rank = (job: RankAsked): Promise<Answers['rank']> => this.read('rank', JSON.stringify(job));
    versus = (job: Requests['versus']): Promise<Answers['versus']> => this.read('versus', JSON.stringify(job));
    pools = (job: Requests['pools']): Promise<Answers['pools']> => this.read('pools', JSON.stringify(job));
    phases = (job: Requests['phases']): Promise<Answers['phases']> => this.read('phases', JSON.stringify(job));
    limits = (job: LimitsAsked): Promise<Answers['limits']> => this.read('limits', JSON.stringify(job));
    measure = (text: string, said: LinksSaid): Promise<Measured | CollectivesRead | Refusal> => this.ask('measure', text, { said });
    // `seconds` is when to end with the best so far.
    place = (
        job: PlaceAsked,
        { names, gpus, rates, latencies }: LinkColumns,
        seconds: number,
        told: (progress: PlaceProgress) => void,
    ): Promise<PlacedHere | Refusal> => this.ask('place', JSON.stringify(job), { links: { names, gpus, rates, latencies }, seconds }, told);

    // Gives its thread and its memory back; a later question starts a fresh instance.
    end(): void {
        this.restart('ended');
    }

    // Drops what it is busy with; the next question starts a fresh instance.
    stop(): void {
        if (this.waiting.size > 0) this.restart('stopped');
    }

    // A text crosses between threads at once; an object would be copied member by member, twice.
    private async read<Answer>(call: Call, text: string, whole = false): Promise<Answer> {
        return JSON.parse(await this.ask<string>(call, text, whole ? { whole } : {}));
    }

    private ask<Answer, Progress = never>(
        call: Call,
        text: string,
        more: Pick<Question, 'filter' | 'said' | 'links' | 'seconds' | 'whole'> = {},
        told?: (progress: Progress) => void,
    ): Promise<Answer> {
        const id = ++this.lastId;
        const question: Question = { id, call, text, ...more, ...(this.whole && { whole: true }) };
        return new Promise((resolve, reject) => {
            this.waiting.set(id, { question, askedTwice: false, resolve, reject, ...(told && { told }) });
            this.send(question);
        });
    }

    private send(question: Question): void {
        const worker = this.running();
        worker.postMessage(question);
        if (!this.second || this.complete || isFirst(question)) return;
        this.complete = true;
        this.second().then(
            (second) => worker.postMessage({ second } satisfies Second),
            () => this.worker === worker && this.cannotComplete(),
        );
    }

    // Without the second file the others are answered still.
    private cannotComplete(): void {
        this.complete = this.whole = false;
        for (const [id, { question, reject, askedTwice }] of [...this.waiting]) {
            if (isFirst(question)) continue;
            this.waiting.delete(id);
            reject(new CoreCrash('crash.no_file', askedTwice));
        }
    }

    private running(): Worker {
        if (this.worker) return this.worker;
        const worker = this.create();
        this.worker = worker;
        this.complete = false;
        const lost = (reason: string): void => {
            if (this.worker === worker) this.askAgain(reason);
        };
        worker.addEventListener('message', ({ data }: MessageEvent<Reply>) => this.worker === worker && this.receive(data));
        worker.addEventListener('error', (event) => lost(event.message ?? 'crash.no_file'));
        worker.addEventListener('messageerror', () => lost('crash.unreadable'));
        this.alive = watchOver(
            () => this.waiting.size > 0,
            () => lost('crash.thread_ended'),
        );
        // Without a module nothing can be answered: who made this says so, once, and not every question.
        this.module().then(
            (module) => worker.postMessage(module),
            () => {},
        );
        return worker;
    }

    private receive(reply: Reply): void {
        this.alive?.heard();
        if ('lock' in reply) {
            this.alive?.holds(reply.lock);
            return;
        }
        const waiting = this.waiting.get(reply.id);
        if ('lacks' in reply && this.second && !waiting?.question.whole) {
            this.whole = true;
            for (const one of this.drop()) this.sendAgain({ ...one, question: { ...one.question, whole: true } });
        } else if ('lacks' in reply) {
            this.restart('crash.no_file');
        } else if ('crash' in reply) {
            // An instance that threw may be left in any state: never ask it again.
            this.restart(reply.crash);
        } else if ('progress' in reply) {
            waiting?.told?.(reply.progress as never);
        } else {
            this.waiting.delete(reply.id);
            waiting?.resolve(reply.value as never);
        }
    }

    private drop(): Waiting[] {
        this.alive?.end();
        this.worker?.terminate();
        this.worker = undefined;
        const lost = [...this.waiting.values()];
        this.waiting.clear();
        return lost;
    }

    private restart(reason: string): void {
        for (const { reject, askedTwice } of this.drop()) reject(new CoreCrash(reason, askedTwice));
    }

    // The thread is gone, not because of an answer: once more, in a new one.
    private askAgain(reason: string): void {
        for (const one of this.drop()) {
            if (one.askedTwice) {
                one.reject(new CoreCrash(reason, true));
                continue;
            }
            this.sendAgain({ ...one, askedTwice: true });
        }
    }

    private sendAgain(one: Waiting): void {
        this.waiting.set(one.question.id, one);
        this.send(one.question);
    }
}

// Asks one question at a time and, while it waits, remembers only the newest: an answer is never older than the one shown before it,
// and fast typing never builds a queue. With `stop`, a question that has taken long gives way to a newer one.
export const PATIENCE_MS = 300; // starting an instance anew takes a tenth of a second
export function latestOnly<Question, Answer>(
    ask: (question: Question) => Promise<Answer>,
    done: (answer: Answer, question: Question) => void,
    failed: (error: unknown) => void,
    stop?: () => void,
): (question: Question) => void {
    let busy = false;
    let begun = 0;
    let next: { question: Question } | null = null;
    const run = async (question: Question): Promise<void> => {
        busy = true;
        begun = performance.now();
        try {
            const answer = await ask(question);
            if (!next) done(answer, question);
        } catch (error) {
            if (!next) failed(error);
        }
        busy = false;
        if (next) {
            const following = next.question;
            next = null;
            run(following);
        }
    };
    return (question) => {
        if (!busy) {
            run(question);
            return;
        }
        next = { question };
        if (performance.now() - begun > PATIENCE_MS) stop?.();
    };
}
