import { useEffect, useRef, useState } from 'preact/hooks';
import type { Calibrated, Calibration, FlopConvention, Problem } from '../core/api';
import type { Core } from '../core/client';
import { entriesOf } from '../core/keys';
import { format } from '../format/format';
import { useWidth } from '../shared/drawing';
import { choiceLabel, labelOf, nameOf, problemText, unitText } from '../shared/names';
import { Table } from '../shared/table';
import { request } from '../state/state';
import type { Actions, Page } from '../store/page';
import { say, sentences, tell } from '../words/words';
import { asRows, timedRows, withTabs } from './calibrate-rows';
import { keepRuns, type Typed } from './kept-runs';
import { off } from './off';
import { SendLater } from './send-door';

const CALM_MS = 300; // a line that is being typed is no mistake yet
const MOST_SHOWN = 20; // problems; nobody mends more at once
const MOST_WARNINGS = 3;

interface Props {
    page: Page;
    act: Actions;
    calibrate: Core['calibrate'];
    readRun: Core['readRun'];
    typed: Typed;
    setTyped(typed: Typed): void;
}

// ---- the residuals: measured over estimated, run by run, before and after
const HEIGHT = 150;
const LEFT = 60;
const TOP = 30;
const FOOT = 26;
const LEAST = 0.05; // the scale reaches at least that far from 1, so that noise does not look like an error

// Ratios to write at the axis: about three to each side of 1, at round percentages.
function ratioMarks(reach: number): number[] {
    const step = [0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20].find((one) => reach / one <= 3) ?? 50;
    const count = Math.floor(reach / step);
    return Array.from({ length: 2 * count + 1 }, (_, i) => 1 + (i - count) * step);
}

function Residuals({ result }: { result: Calibration }) {
    const { box, width } = useWidth();
    const rows = timedRows(result);
    const changed = result.kind !== 'none';
    const ratios = rows.flatMap((row) => [row.ratio, row.after_ratio]);
    const reach = Math.max(LEAST, ...ratios.map((ratio) => Math.abs(ratio - 1))) * 1.1;
    const marks = ratioMarks(reach).filter((ratio) => ratio > 0 && ratio >= Math.min(...ratios, 1 - LEAST) - reach / 3);
    const low = Math.min(...marks, ...ratios);
    const high = Math.max(...marks, ...ratios);
    const room = Math.max(120, width - LEFT - 8);
    const x = (i: number): number => LEFT + ((i + 0.5) / rows.length) * room;
    const y = (ratio: number): number => TOP + (HEIGHT * (high - ratio)) / (high - low);
    const size = rows.length > 60 ? 2 : 4;
    const every = Math.ceil((rows.length * 28) / room); // px that a number needs
    return (
        <div ref={box} class="residuals">
            <svg width={width} height={TOP + HEIGHT + FOOT} aria-hidden="true">
                <text x={0} y={12}>
                    {say('calibrate.y')}
                </text>
                {marks.map((ratio) => (
                    <g key={ratio} class={Math.abs(ratio - 1) < 1e-9 ? 'rule none' : 'rule'}>
                        <line x1={LEFT} x2={LEFT + room} y1={y(ratio)} y2={y(ratio)} />
                        <text x={LEFT - 6} y={y(ratio) + 4} text-anchor="end">
                            {off(ratio)}
                        </text>
                    </g>
                ))}
                {rows.map((row, i) => (
                    <g key={tell(row.name)}>
                        {changed && <line class="move" x1={x(i)} x2={x(i)} y1={y(row.ratio)} y2={y(row.after_ratio)} />}
                        <circle class="before" cx={x(i)} cy={y(row.ratio)} r={size} />
                        {changed && <circle class="after" cx={x(i)} cy={y(row.after_ratio)} r={size} />}
                        {i % every === 0 && (
                            <text x={x(i)} y={TOP + HEIGHT + 20} text-anchor="middle">
                                {String(row.name.args?.number ?? '')}
                            </text>
                        )}
                    </g>
                ))}
            </svg>
            <p class="legend note">
                <svg width="14" height="14" aria-hidden="true">
                    <circle class="before" cx="7" cy="7" r="4" />
                </svg>{' '}
                {say('calibrate.key_before')}
                {changed && (
                    <>
                        {' '}
                        <svg width="14" height="14" aria-hidden="true">
                            <circle class="after" cx="7" cy="7" r="4" />
                        </svg>{' '}
                        {say('calibrate.key_after')}
                    </>
                )}
            </p>
        </div>
    );
}

function Proposal({ page, act, result, typed }: Pick<Props, 'page' | 'act' | 'typed'> & { result: Calibration }) {
    const entries = entriesOf(result.set);
    if (entries.length === 0) return null;
    const apply = () => {
        keepRuns(typed, result.set);
        act.change(result.set, 'choose');
    };
    const inUse = entries.every(([key, value]) => page.job[key] === value);
    const { fields } = page.catalog;
    const told = ([key, value]: (typeof entries)[number]): string => {
        const unit = fields.find((one) => one.key === key)?.unit;
        const written = typeof value === 'number' ? format.number(value) : choiceLabel(page.catalog, key, String(value));
        const label = labelOf(fields, key);
        return unit
            ? say('calibrate.sets_unit', { label, value: written, unit: unitText(2, unit) })
            : say('plan.set', { label, value: written });
    };
    return (
        <>
            <ul class="note sets">
                {entries.map((entry) => (
                    <li key={entry[0]}>{told(entry)}</li>
                ))}
            </ul>
            <p class="acts">
                <button type="button" class="prime" aria-disabled={inUse} onClick={() => !inUse && apply()}>
                    {inUse ? say('calibrate.applied') : say('calibrate.apply')}
                </button>
            </p>
        </>
    );
}

function Warnings({ warnings }: { warnings: Problem[] }) {
    const shown = warnings.slice(0, MOST_WARNINGS);
    const more = warnings.length - shown.length;
    return (
        <ul class="note">
            {shown.map((warning) => (
                <li key={warning.field}>{problemText(warning)}</li>
            ))}
            {more > 0 && <li>{say('calibrate.others', { count: more })}</li>}
        </ul>
    );
}

function Problems({ result }: { result: Extract<Calibrated, { ok: false }> }) {
    const shown = result.problems.slice(0, MOST_SHOWN);
    const more = result.problems.length - shown.length;
    return (
        <div class="wrong">
            <h3>{say('calibrate.problems', { count: result.problems.length })}</h3>
            <ul>
                {shown.map((problem) => (
                    <li key={problem.field + problem.rule + problemText(problem)}>{problemText(problem)}</li>
                ))}
                {more > 0 && <li>{say('calibrate.others', { count: more })}</li>}
            </ul>
        </div>
    );
}

// How far the time is off, and how far the memory.
function Finding({ page, result }: { page: Page; result: Calibration }) {
    const { before, after, memory } = result;
    const mean = before && after && { before: before.mean_error, after: after.mean_error };
    return (
        <>
            {before && after && mean && (
                <>
                    <h3>{result.kind === 'none' ? say('calibrate.off', mean) : say('calibrate.better', mean)}</h3>
                    {result.kind !== 'none' && (
                        <p class="note">{say('calibrate.worst', { before: before.worst_error, after: after.worst_error })}</p>
                    )}
                    <Residuals result={result} />
                </>
            )}
            {memory && memory.kind !== 'none' && (
                <p class="note">{say('calibrate.memory', { before: memory.before.mean_error, after: memory.after.mean_error })}</p>
            )}
            {result.rows.length > 0 && (
                <Table title={say('table.title')} label={say('calibrate.table')} rows={() => asRows(page.catalog, result)} />
            )}
        </>
    );
}

// A rate in FLOP/s means nothing without what it counts: the reader chooses.
function Convention({ typed, setTyped, choices }: Pick<Props, 'typed' | 'setTyped'> & { choices: FlopConvention[] }) {
    if (choices.length === 0) return null;
    return (
        <p>
            <label>
                {tell({ id: 'field.flop_convention' })}{' '}
                <select
                    value={typed.convention ?? ''}
                    onChange={({ currentTarget }) =>
                        setTyped({ ...typed, convention: (currentTarget.value || null) as FlopConvention | null })
                    }
                >
                    <option value="">{say('calibrate.choose')}</option>
                    {choices.map((id) => (
                        <option key={id} value={id}>
                            {nameOf('choice.flop_convention', { id })}
                        </option>
                    ))}
                </select>
            </label>
        </p>
    );
}

// Measured runs beside their estimates, and what they say about them.
export function Calibrate({ page, act, calibrate, readRun, typed, setTyped }: Props) {
    const [result, setResult] = useState<Calibrated | null>(null);
    const field = useRef<HTMLTextAreaElement>(null);
    const { job } = page;
    const { text, convention } = typed;
    const setText = (text: string): void => setTyped({ ...typed, text });
    useEffect(() => {
        let stale = false;
        const ask = () =>
            calibrate(request(job), (text ?? '').normalize('NFKC'), convention).then(
                (answer) => {
                    if (stale) return;
                    setResult(answer);
                    // Nothing is written under the hands of somebody who is at the field.
                    if (text === null && answer.text && field.current !== document.activeElement) setText(`${answer.text.header}\n`);
                },
                () => {}, // the page says so: a crash has its own notice
            );
        const timer = setTimeout(ask, result ? CALM_MS : 0);
        return () => {
            stale = true;
            clearTimeout(timer);
        };
    }, [text, convention, job]);

    const help = result && 'text' in result ? result : null;
    const line = help?.text?.line ?? '';
    const add = () => {
        const before = (text ?? '').trimEnd() || help?.text?.header;
        setText(`${before}\n${line}`);
        field.current?.focus();
        // the time is what is missing: the cursor waits at the end
        requestAnimationFrame(() => field.current?.setSelectionRange(-1, -1));
    };
    // Pasted into an empty table: one with its own names of columns replaces them. What a run printed becomes a row, there and below others
    // of its kind.
    const take = (event: ClipboardEvent) => {
        const given = event.clipboardData?.getData('text') ?? '';
        const pasted = withTabs(given);
        const typedBefore = (text ?? '').trim();
        const isEmpty = typedBefore === '' || typedBefore === help?.text?.header;
        if (isEmpty && (typedBefore === '' ? pasted !== given : /^\s*[a-z]/i.test(pasted))) {
            event.preventDefault();
            setText(pasted);
        }
        readRun({ text: pasted }).then(
            (run) => {
                if (!run.ok || run.runs_text === '') return;
                const [head = '', ...rows] = run.runs_text.trim().split('\n');
                if (isEmpty) setText(run.runs_text);
                else if (typedBefore.startsWith(`${head}\n`)) setText([typedBefore, ...rows, ''].join('\n'));
            },
            () => {}, // the page says so: a crash has its own notice
        );
    };
    const remove = help?.remove ?? {};
    return (
        <div class="calibrate">
            <p class="note">{sentences(say('calibrate.intro'), say('calibrate.rule'))}</p>
            <textarea
                ref={field}
                aria-label={say('calibrate.runs')}
                aria-describedby="calibrate-result"
                aria-invalid={result?.ok === false}
                rows={6}
                spellcheck={false}
                wrap="off"
                value={text ?? ''}
                onPaste={take}
                onInput={(event) => setText(event.currentTarget.value)}
            />
            <p class="acts">
                <button type="button" aria-disabled={line === ''} onClick={() => line !== '' && add()}>
                    {say('calibrate.add')}
                </button>
                {Object.keys(remove).length > 0 && (
                    <button type="button" onClick={() => act.change(remove, 'choose')}>
                        {say('calibrate.remove')}
                    </button>
                )}
            </p>
            <Convention typed={typed} setTyped={setTyped} choices={help?.text?.conventions ?? []} />
            <div id="calibrate-result" class="proposal" role="status">
                {result?.ok && result.why.length > 0 && <p>{sentences(...result.why.map(tell))}</p>}
                {result?.ok && result.memory && <p>{sentences(...result.memory.why.map(tell))}</p>}
                {result?.ok && <Warnings warnings={result.warnings} />}
                {result?.ok === false && <Problems result={result} />}
            </div>
            {result?.ok && (
                <>
                    <Proposal page={page} act={act} result={result} typed={typed} />
                    <Finding page={page} result={result} />
                    {page.answer && result.rows.length > 0 && (
                        <SendLater page={page} answer={page.answer} rows={result.rows} lines={text ?? ''} />
                    )}
                </>
            )}
        </div>
    );
}
