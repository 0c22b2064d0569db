// The table of pinned plans: a file of its own, fetched with the first pin.
import './compare.css';
import type { Estimate } from '../core/api';
import { kindsOf } from '../format/sums';
import { percent, Swatch, TimeFill } from '../shared/chart';
import { CopyButton } from '../shared/copy-button';
import { problemText } from '../shared/names';
import { degreeList, wholePlan } from '../shared/plan-words';
import { MAX_PINS } from '../state/state';
import type { Actions, Page } from '../store/page';
import { say, sentences } from '../words/words';
import {
    asMarkdown,
    asTsv,
    type Cell,
    type Column,
    columnsOf,
    conventionOf,
    findingOf,
    groupsOf,
    type Part,
    type Row,
    type Section,
    sectionsOf,
} from './rows';

// Bars of one row share their scale, so that the longer one is the larger one.
function MemoryBar({ answer, most }: { answer: Estimate; most: number }) {
    let from = 0;
    return (
        <svg class="bar" aria-hidden="true">
            <rect class="card" width={percent(answer.card_bytes / most)} height="100%" />
            {[...answer.groups.map(({ id }) => id), 'outside'].map((id) => {
                const bytes = groupsOf(answer)[id] ?? 0;
                const x = from;
                from += bytes;
                return (
                    <svg key={id} aria-hidden="true" x={percent(x / most)} width={percent(bytes / most)} height="100%">
                        <rect class={`f-${id}`} width="100%" height="100%" />
                        <rect class="pattern" width="100%" height="100%" fill={`url(#p-${id})`} />
                    </svg>
                );
            })}
            <line class="cardline" x1={percent(answer.card_bytes / most)} x2={percent(answer.card_bytes / most)} y2="100%" />
        </svg>
    );
}

function TimeBar({ answer, most }: { answer: Estimate; most: number }) {
    let from = 0;
    return (
        <svg class="bar" aria-hidden="true">
            {kindsOf(answer.time.items).map(({ kind, seconds }) => {
                const x = from;
                from += seconds;
                return (
                    <svg key={kind} aria-hidden="true" x={percent(x / most)} width={percent(seconds / most)} height="100%">
                        <TimeFill kind={kind} />
                    </svg>
                );
            })}
        </svg>
    );
}

// The bar that belongs to a row: where its total comes from.
function BarOf({ row, answer, columns }: { row: Row; answer: Estimate | null; columns: Column[] }) {
    if (!answer || (row.id !== 'bytes' && row.id !== 'step')) return null;
    const memory = row.id === 'bytes';
    const sizes = columns.flatMap((column) => {
        const one = column.answer;
        return one ? [memory ? Math.max(one.whole_bytes, one.card_bytes) : one.time.step_seconds] : [];
    });
    const most = Math.max(...sizes);
    return memory ? <MemoryBar answer={answer} most={most} /> : <TimeBar answer={answer} most={most} />;
}

function Key({ part }: { part: Part }) {
    if ('memory' in part) return <Swatch id={part.memory} />;
    return (
        <svg class="swatch" width="14" height="14" aria-hidden="true">
            <TimeFill kind={part.time} />
        </svg>
    );
}

function Value({ cell }: { cell: Cell }) {
    return (
        <>
            <span class={cell.fit && `word ${cell.fit}`}>{cell.text}</span>
            {cell.best && (
                <>
                    {' '}
                    <b class="best-mark">{say('compare.best')}</b>
                </>
            )}
            {cell.small && <small class="below">{cell.small}</small>}
            {cell.problems && cell.problems.length > 0 && (
                <ul>
                    {cell.problems.map((problem) => (
                        <li key={problemText(problem)}>{problemText(problem)}</li>
                    ))}
                </ul>
            )}
        </>
    );
}

interface LineProps {
    row: Row;
    columns: Column[];
    rows: number; // that a refused plan's problems may take, on the row where they begin
}

// A plan that cannot work has its problems where the others have their numbers.
const isRefused = ({ problems }: Column): boolean => problems.length > 0;

function Line({ row, columns, rows }: LineProps) {
    return (
        <tr class={row.part ? 'part-row' : undefined}>
            <th scope="row">
                {row.part && <Key part={row.part} />}
                {row.label}
            </th>
            {columns.map((column, i) => {
                const cell = row.cells[i];
                if (!cell || (isRefused(column) && rows === 0)) return null;
                return (
                    <td key={column.pin.text} rowSpan={isRefused(column) && row.id === 'verdict' ? rows : undefined}>
                        <Value cell={cell} />
                        <BarOf row={row} answer={column.answer} columns={columns} />
                    </td>
                );
            })}
        </tr>
    );
}

// One body for all: problems reach over its rows.
function Body({ columns, sections }: { columns: Column[]; sections: Section[] }) {
    const results = sections.filter(({ id }) => id !== 'settings');
    const rowsFrom = results.reduce((sum, { rows }) => sum + rows.length + 1, -1);
    return (
        <tbody>
            {sections.flatMap(({ id, label, rows }) => {
                const below = id === 'time' || id === 'run';
                return [
                    <tr key={id} class="head">
                        <th scope="row">{label}</th>
                        {columns.map((column) => (below && isRefused(column) ? null : <td key={column.pin.text} />))}
                    </tr>,
                    ...rows.map((row) => {
                        const left = id === 'settings' ? 1 : row.id === 'verdict' ? rowsFrom : 0;
                        return <Line key={row.id} row={row} columns={columns} rows={left} />;
                    }),
                ];
            })}
        </tbody>
    );
}

function Head({ page, column, act }: { page: Page; column: Column; act: Actions }) {
    const { pin, name, shown, pinned, answer } = column;
    const show = () => {
        act.replaceJob(pin.job, 'choose');
        document.getElementById('answer')?.scrollIntoView({ block: 'center' });
    };
    const unpin = () => {
        act.unpin(pin);
        document.getElementById('compare')?.focus(); // the button goes with its column
    };
    return (
        <th scope="col">
            <span class="name">
                <b>{name}</b> {shown && pinned && <small>{say('compare.shown_now')}</small>}
            </span>
            <small class="plan-of">{answer ? wholePlan(page.catalog, answer.job, answer.data_parallel) : degreeList(pin.job)}</small>
            <span class="acts">
                {!shown && (
                    <button type="button" aria-label={say('compare.show_label', { name })} onClick={show}>
                        {say('compare.show')}
                    </button>
                )}
                {pinned && (
                    <button type="button" aria-label={say('compare.unpin_label', { name })} onClick={unpin}>
                        {say('compare.unpin')}
                    </button>
                )}
                {!pinned && answer && page.pins.length < MAX_PINS && (
                    <button type="button" aria-label={say('compare.pin_this')} onClick={() => act.pin(answer.job)}>
                        {say('compare.pin_it')}
                    </button>
                )}
            </span>
        </th>
    );
}

// Pinned plans and the one shown, side by side.
export function CompareTable({ page, act }: { page: Page; act: Actions }) {
    const columns = columnsOf(page);
    const sections = sectionsOf(page, columns);
    const finding = findingOf(columns, sections);
    const convention = conventionOf(page, columns);
    return (
        <>
            {finding && <p class="finding">{finding}</p>}
            {columns.length === 1 && <p>{say('compare.alone')}</p>}
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reached by the keyboard */}
            <section class="scroll" aria-label={say('compare.region')} tabIndex={0}>
                <table>
                    <thead>
                        <tr>
                            <td />
                            {columns.map((column) => (
                                <Head key={column.pin.text} page={page} column={column} act={act} />
                            ))}
                        </tr>
                    </thead>
                    <Body columns={columns} sections={sections} />
                </table>
            </section>
            <p class="note">{sentences(columns.length > 1 && say('compare.marks'), convention && say('compare.notes', { convention }))}</p>
            <p class="acts">
                <CopyButton label={say('copy.table')} text={() => asTsv(columns, sections)} />
                <CopyButton label={say('compare.copy_markdown')} text={() => asMarkdown(columns, sections)} />
            </p>
        </>
    );
}
