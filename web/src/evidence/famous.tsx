import { useEffect, useRef, useState } from 'preact/hooks';
import type { Catalog, Estimate, Refusal } from '../core/api';
import { format } from '../format/format';
import { lineText, sizes } from '../shared/answer-words';
import { nameOf, problemText } from '../shared/names';
import { degreeList } from '../shared/plan-words';
import { formatLink } from '../state/state';
import { asSeen } from '../state/view';
import { isSaid, say, sentences } from '../words/words';
import { off } from './off';
import { type Column, ProofTable } from './proof-table';
import { famousRuns, jobOf, type Progress, type Prover, prove, type Run, secondsOf } from './prove';

const GIB = 2 ** 30;
const TERA = 1e12;

type Answer = Estimate | Refusal | undefined;
type Row = Run & { answer: Answer };

const gpuOf = (catalog: Catalog, id: unknown): string => catalog.gpus.find((gpu) => gpu.id === id)?.label ?? String(id);

function What({ run, catalog }: { run: Run; catalog: Catalog }) {
    const { gpus, gpu, sequence_length, global_batch } = run.request;
    const note = `famous.note.${run.id}`;
    return (
        <>
            <a href={asSeen(formatLink(jobOf(run, catalog), catalog))}>
                {say('famous.run', { name: run.name, gpus: Number(gpus), gpu: gpuOf(catalog, gpu) })}
            </a>
            <small>
                {say('famous.batch', { tokens: Number(sequence_length), batch: Number(global_batch) })}{' '}
                {isSaid(note) && say(note as 'famous.note.bloom')}
            </small>
        </>
    );
}

const reachedOf = ({ published: { seconds, tokens_per_s_per_gpu: tokens, tflops, rate } }: Run): string =>
    seconds !== undefined
        ? say('famous.seconds', { time: seconds })
        : tokens !== undefined
          ? say('famous.tokens', { speed: format.rounded(tokens) })
          : say('famous.tflops', { speed: (tflops ?? 0) * TERA, convention: nameOf('rate', { id: String(rate) }) });

function Reached({ run, answer }: { run: Run; answer: Answer }) {
    const seconds = answer?.ok && run.published.seconds === undefined ? secondsOf(run, answer) : null;
    const { memory_gib: memory } = run.published;
    return (
        <>
            {reachedOf(run)}
            {seconds !== null && <small>{say('famous.which_is', { time: seconds })}</small>}
            {memory !== undefined && <small>{say('famous.memory', { memory: memory * GIB })}</small>}
        </>
    );
}

function Said({ run, answer }: { run: Run; answer: Answer }) {
    if (!answer) return <span class="note">{say('famous.waiting')}</span>;
    if (!answer.ok) return <span class="wrong">{sentences(say('famous.refused'), ...answer.problems.slice(0, 2).map(problemText))}</span>;
    const { time, reserved_bytes: reserved } = answer;
    const rate = time.rates.find(({ id }) => id === (run.published.rate ?? 'full')) ?? time.rates[0];
    return (
        <>
            {say('famous.takes', { time: time.step_seconds, low: time.low_seconds, high: time.high_seconds })}
            {rate && <small>{say('famous.rate', { speed: rate.tflop_per_s_per_gpu * TERA, mfu: rate.mfu })}</small>}
            <small>
                <span class={`word ${answer.class}`}>{say(`fit.${answer.class}`)}</span> {say('famous.used', sizes(answer))}
                {answer.class === 'at_risk' && ` · ${lineText(answer)}`}{' '}
                {run.published.memory_gib !== undefined && say('famous.reserved', { memory: reserved })}
            </small>
        </>
    );
}

function Off({ run, answer }: { run: Run; answer: Answer }) {
    const seconds = answer?.ok ? secondsOf(run, answer) : null;
    if (!answer?.ok || seconds === null) return <>–</>;
    const { step_seconds: estimated, low_seconds: low, high_seconds: high } = answer.time;
    return (
        <>
            {off(seconds / estimated)}
            <small>{seconds >= low && seconds <= high ? say('famous.inside') : say('famous.outside')}</small>
        </>
    );
}

const columns = (catalog: Catalog): Column<Row>[] => [
    { id: 'run', head: say('famous.head.run'), cell: (row) => <What run={row} catalog={catalog} /> },
    { id: 'plan', head: say('famous.head.plan'), cell: (row) => degreeList(jobOf(row, catalog)) },
    { id: 'reached', head: say('famous.head.reached'), cell: (row) => <Reached run={row} answer={row.answer} /> },
    { id: 'said', head: say('famous.head.said'), cell: (row) => <Said run={row} answer={row.answer} /> },
    { id: 'off', head: say('famous.head.off'), number: true, cell: (row) => <Off run={row} answer={row.answer} /> },
    { id: 'source', head: say('famous.head.source'), cell: ({ source }) => <a href={source.url}>{source.title}</a> },
];

// Famous runs: what they used and reached, and what this page says of them.
export function Famous({ catalog, prover }: { catalog: Catalog; prover: Prover }) {
    const [{ answers, state }, tell] = useState<Progress>({ answers: {}, state: 'running' });
    const stop = useRef(() => {});
    const start = () => {
        tell({ answers, state: 'running' });
        stop.current = prove(prover, catalog, answers, tell);
    };
    useEffect(() => {
        start();
        return () => stop.current();
    }, []);
    const rows = famousRuns.map((run) => ({ ...run, answer: answers[run.id] }));
    const counted = { done: Object.keys(answers).length, all: rows.length };
    return (
        <>
            <h3>{say('famous.title')}</h3>
            <p class="note">{sentences(say('famous.intro'), say('famous.fit_note'), say('famous.off_note'))}</p>
            <p class="acts proving" role="status">
                <span class="note">{state === 'done' ? say('famous.done', counted) : say('famous.progress', { ...counted, state })}</span>{' '}
                {state === 'running' && (
                    <button type="button" onClick={() => stop.current()}>
                        {say('famous.stop')}
                    </button>
                )}
                {(state === 'stopped' || state === 'failed') && (
                    <button type="button" onClick={start}>
                        {say('famous.again')}
                    </button>
                )}
            </p>
            <ProofTable label={say('famous.title')} columns={columns(catalog)} rows={rows} />
        </>
    );
}
