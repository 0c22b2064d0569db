import './evidence.css';
import { useMemo } from 'preact/hooks';
import type { Catalog, Estimate } from '../core/api';
import { format } from '../format/format';
import { Folded } from '../shared/folded';
import { choiceLabel, labelOf, lower } from '../shared/names';
import type { Page } from '../store/page';
import { listed, say, sentences } from '../words/words';
import { off } from './off';
import { type Column, ProofTable } from './proof-table';
import {
    type Alike,
    alikeOf,
    byDistance,
    differences,
    type Errors,
    errorOf,
    errorsOf,
    isNear,
    type Kind,
    leftOut,
    outcomesOf,
    type Run,
    runsOf,
    type Size,
    worstFirst,
} from './runs';

const GIB = 2 ** 30;
const FIRST = 6; // rows that stand there at once, and runs that are shown where none is near

const offBy = (error: number): string => off(1 + error);
const range = ({ count, mean, low, high }: Errors) => ({ count, mean, low: offBy(low), high: offBy(high) });

// Not every source names its models; "80G" is a class of sizes.
const isName = (model: string): boolean => /\p{L}{2}/u.test(model);
const nameOf = ({ model, parameters, gpus, gpu }: Run): string =>
    say('near.run', { model: isName(model) ? model : say('near.unnamed', { parameters: format.short(parameters) }), gpus, gpu });

// ---- in what a run differs from the plan shown
const SHORT = new Set<string>(['tensor_parallel', 'pipeline_parallel', 'context_parallel', 'micro_batch']);
type Degree = 'tensor_parallel' | 'pipeline_parallel' | 'context_parallel' | 'micro_batch';

interface Yours {
    alike: Alike;
    answer: Estimate;
    catalog: Catalog;
}

function differenceText({ alike, answer, catalog }: Yours, run: Run, key: Size | Kind): string {
    const precision = (id: string): string => choiceLabel(catalog, 'precision', id);
    if (key === 'parameters')
        return say('near.differs.parameters', { theirs: format.short(run.parameters), yours: format.short(alike.parameters) });
    if (key === 'experts') return run.experts ? say('near.differs.experts') : say('near.differs.dense');
    if (key === 'architecture') return say('near.differs.kind', { theirs: run.gpu, yours: answer.gpu.label });
    if (key === 'eight_bit')
        return say('near.differs.kind', { theirs: precision(run.precision), yours: precision(String(answer.job.precision)) });
    if (key === 'framework') {
        const name = (id: string): string => choiceLabel(catalog, 'framework', id);
        return say('near.differs.kind', { theirs: name(run.framework), yours: name(alike.framework) });
    }
    const label = SHORT.has(key) ? say(`degree.short.${key as Degree}`) : lower(labelOf(catalog.fields, key));
    return say('near.differs.size', { label, theirs: run[key], yours: alike[key] });
}
const differsText = (yours: Yours, run: Run): string =>
    listed(differences(yours.alike, run).map((key) => differenceText(yours, run, key))) || say('near.differs.nothing');

// ---- the runs as a table
const what = (pair: Run['seconds'], which: 0 | 1, written: (value: number) => string): string => (pair ? written(pair[which]) : '');
const time = (value: number): string => format.duration(value);
const memory = (gib: number): string => say('near.memory_of', { memory: gib * GIB });

const columns = (yours: Yours): Column<Run & { id: string }>[] => [
    {
        id: 'run',
        head: say('measured.head.family'),
        cell: (run) => (
            <>
                {nameOf(run)}{' '}
                <small>
                    <a href={run.source.url}>{run.source.title}</a>
                </small>
            </>
        ),
    },
    { id: 'differs', head: say('near.head.differs'), cell: (run) => differsText(yours, run) },
    {
        id: 'measured',
        head: say('near.head.measured'),
        number: true,
        cell: ({ seconds, gib, outcome }) =>
            listed([what(seconds, 0, time), what(gib, 0, memory), !seconds && outcome && say(outcome.ran ? 'near.ran' : 'near.failed')]),
    },
    {
        id: 'estimated',
        head: say('near.head.estimated'),
        number: true,
        cell: ({ seconds, gib, outcome }) => (
            <>
                {listed([what(seconds, 1, time), what(gib, 1, memory)])}{' '}
                {outcome && <span class={`word ${outcome.said}`}>{say(`fit.${outcome.said}`)}</span>}
            </>
        ),
    },
    {
        id: 'off',
        head: say('near.head.off'),
        number: true,
        cell: ({ seconds, gib }) => listed([seconds && offBy(errorOf(seconds)), gib && offBy(errorOf(gib))]) || '–',
    },
    {
        id: 'standing',
        head: say('measured.head.standing'),
        cell: ({ standing }) => <span class={`standing ${standing}`}>{say(`measured.standing.${standing}`)}</span>,
    },
];

// What the near runs come to, in sentences; the first of them stands alone until the reader wants more.
function findings(runs: readonly Run[]): string[] {
    const [times, memories] = [errorsOf(runs.map(({ seconds }) => seconds)), errorsOf(runs.map(({ gib }) => gib))];
    const outcomes = outcomesOf(runs);
    return [
        times && say('near.times', { ...range(times), all: runs.length, some: times.count < runs.length ? 'yes' : 'no' }),
        memories && say('near.memories', range(memories)),
        outcomes.ran > 0 && say('near.of_ran', { all: outcomes.ran, no: outcomes.ran_no }),
        outcomes.failed > 0 && say('near.of_failed', { all: outcomes.failed, fits: outcomes.failed_fits }),
    ].filter((text) => typeof text === 'string');
}

// The measured runs that are most like the plan shown, and how far off the estimate was for them.
export function Near({ page: { catalog }, answer }: { page: Page; answer: Estimate }) {
    const runs = useMemo(() => runsOf(catalog), [catalog]);
    const alike = useMemo(() => alikeOf(answer, catalog), [answer, catalog]);
    const nearest = useMemo(() => byDistance(alike, runs), [alike, runs]);
    const yours = { alike, answer, catalog };
    const near = nearest.filter(isNear).map(({ run }) => run);
    const [first] = nearest;
    const some = near.length > 0 ? worstFirst(near) : nearest.slice(0, FIRST).map(({ run }) => run);
    const none = first ? say('near.none', { run: nameOf(first.run), what: differsText(yours, first.run) }) : '';
    const [line = none, ...more] = findings(near);
    const title = near.length > 0 ? say('near.open', { count: near.length }) : say('near.open_nearest');
    return (
        <div class="near">
            <p>{line}</p>
            <Folded title={title}>
                {more.length > 0 && <p>{sentences(...more)}</p>}
                <p class="note">
                    {sentences(say('near.means'), say('near.tells'), leftOut > 0 && say('near.left_out', { count: leftOut }))}
                </p>
                <ProofTable
                    label={title}
                    columns={columns(yours)}
                    rows={some.map((run) => ({ ...run, id: String(run.index) }))}
                    first={FIRST}
                />
            </Folded>
        </div>
    );
}
