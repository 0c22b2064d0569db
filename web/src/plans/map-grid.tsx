import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Estimate, Fit } from '../core/api';
import { entryAt, type Heat, paceOf } from '../core/heat';
import { format } from '../format/format';
import { labelOf } from '../shared/names';
import { settled } from '../shared/settled';
import { allAuto } from '../state/state';
import type { Actions, Page } from '../store/page';
import { listed, say } from '../words/words';

// The matrix: plans in rows, numbers of GPUs in columns. Thousands of rows are usual, so only those in sight (and a few more) are drawn;
// two spacer rows stand for the rest.
const ROW_KEYS = ['tensor_parallel', 'context_parallel', 'pipeline_parallel', 'micro_batch'] as const;
const ROW_HEIGHT = 32; // of the style sheet's .grid rows, in pixels
const SPARE_ROWS = 8;
const FITS: readonly Fit[] = ['fits', 'at_risk', 'does_not_fit'];
const SIGNS = ['', ' !', ' ×'] as const;

interface Props extends Pick<Page, 'catalog' | 'onlyFitting'> {
    answer: Estimate | null; // to the job as it is
    gpus: number; // of the job
    heat: Heat;
    act: Actions;
    speed: boolean; // the cells show it instead of memory
}

// The row of the plan shown above; -1 when it is not in the map, or when there is no answer to the job as it is.
function rowOfPlan(heat: Heat, answer: Estimate | null): number {
    const { columns, first } = heat;
    if (!answer) return -1;
    // The rows are sorted by the four degrees: a binary search finds the plan without walking through them.
    const wanted = ROW_KEYS.map((key) => Number(answer.job[key]));
    let [low, high] = [0, first.length - 2];
    while (low <= high) {
        const row = (low + high) >> 1;
        const entry = first[row] ?? 0;
        const difference = ROW_KEYS.map((key, i) => (columns[key][entry] ?? 0) - (wanted[i] ?? 0)).find((one) => one !== 0) ?? 0;
        if (difference === 0) return row;
        if (difference < 0) low = row + 1;
        else high = row - 1;
    }
    return -1;
}

// What a cell needs to know of the whole.
interface Grid extends Pick<Props, 'answer' | 'heat' | 'speed'> {
    current: number; // row of the plan shown
    gpusNow: number;
    focus: { row: number; column: number };
    open(entry: number): void;
    setFocus(focus: { row: number; column: number }): void;
}

function wordsOf({ answer, heat, speed }: Grid, entry: number, gpus: number, size: string, marks: readonly string[]): string {
    const kind = entry < 0 ? undefined : heat.columns.class[entry];
    const fit = kind === undefined ? undefined : FITS[kind];
    const words = fit ? say('map.cell', { speed, gpus, size, fit: say(`fit.${fit}`) }) : say('map.cell_none', { gpus });
    // The plan above may have other settings than the best one with its degrees.
    const same = answer?.whole_bytes === heat.columns.whole_bytes[entry];
    return listed([
        words,
        marks.includes('mark-current') && (same ? say('map.current') : say('map.current_split')),
        marks.includes('mark-auto') && say('map.auto'),
    ]);
}

function Cell({ grid, index, row, gpus, column }: { grid: Grid; index: number; row: number; gpus: number; column: number }) {
    const { heat, speed, focus } = grid;
    const { columns, summary } = heat;
    const entry = entryAt(heat, row, gpus);
    const kind = entry < 0 ? undefined : columns.class[entry];
    const fit = kind === undefined ? undefined : FITS[kind];
    const marks = [
        ...(row === grid.current && gpus === grid.gpusNow ? ['mark-current'] : []),
        ...(summary.auto.some((auto) => auto.gpus === gpus && auto.row === row) ? ['mark-auto'] : []),
    ];
    const size =
        entry < 0 ? '' : speed ? format.rounded(columns.tokens_per_s_per_gpu[entry] ?? 0) : format.gb(columns.whole_bytes[entry] ?? 0);
    const pace = speed && fit === 'fits' && `pace-${paceOf(columns.tokens_per_s_per_gpu[entry] ?? 0, heat.quickest)}`;
    const here = index === focus.row && column === focus.column;
    return (
        <td
            role="gridcell"
            class={`cell ${pace || (fit ?? 'none')} ${marks.join(' ')}`}
            aria-colindex={ROW_KEYS.length + column + 1}
            aria-label={wordsOf(grid, entry, gpus, size, marks)}
            tabIndex={here ? 0 : -1}
            onClick={() => grid.open(entry)}
            onFocus={() => !here && grid.setFocus({ row: index, column })}
        >
            {fit ? `${size}${SIGNS[kind ?? 0]}` : '·'}
        </td>
    );
}

function Line({ grid, index, row, before }: { grid: Grid; index: number; row: number; before: number | null }) {
    const { columns, first, summary } = grid.heat;
    const entry = first[row] ?? 0;
    const above = before === null ? -1 : (first[before] ?? 0);
    // A value that repeats the line above is set back, and a new group gets a rule.
    const same = (upTo: number) => above >= 0 && ROW_KEYS.slice(0, upTo + 1).every((key) => columns[key][entry] === columns[key][above]);
    return (
        <tr aria-rowindex={index + 3} class={same(0) ? undefined : 'group'}>
            {ROW_KEYS.map((key, i) => (
                <th key={key} scope="row" class={same(i) ? `k${i} same` : `k${i}`}>
                    {format.count(columns[key][entry] ?? 0)}
                </th>
            ))}
            {summary.gpu_counts.map((gpus, column) => (
                <Cell key={gpus} grid={grid} index={index} row={row} gpus={gpus} column={column} />
            ))}
        </tr>
    );
}

function Head({ catalog, counts, gpusNow }: { catalog: Page['catalog']; counts: readonly number[]; gpusNow: number }) {
    return (
        <thead>
            <tr aria-rowindex={1}>
                <th scope="colgroup" colSpan={ROW_KEYS.length} class="corner">
                    {say('map.split_head')}
                </th>
                <th scope="colgroup" colSpan={counts.length} class="counts">
                    {say('map.gpus_head')}
                </th>
            </tr>
            <tr aria-rowindex={2}>
                {ROW_KEYS.map((key, i) => (
                    <th key={key} scope="col" class={`k${i}`} aria-label={labelOf(catalog.fields, key)}>
                        <span class="long">{say(`degree.short.${key}`)}</span>
                        <span class="brief">{say(`degree.letter.${key}`)}</span>
                    </th>
                ))}
                {counts.map((gpus) => (
                    <th key={gpus} scope="col" class={gpus === gpusNow ? 'now' : undefined}>
                        {format.count(gpus)}
                    </th>
                ))}
            </tr>
        </thead>
    );
}

function Nothing({ onlyFitting, act }: Pick<Props, 'onlyFitting' | 'act'>) {
    return (
        <p class="empty">
            {say('map.nothing')}{' '}
            {onlyFitting && (
                <button type="button" onClick={() => act.onlyFitting(false)}>
                    {say('map.show_all')}
                </button>
            )}
        </p>
    );
}

// Where an arrow key or its like leads.
function stepOf(event: KeyboardEvent, { row, column }: Grid['focus'], rows: number, columns: number, page: number): Grid['focus'] | null {
    const steps: Record<string, [number, number]> = {
        ArrowDown: [row + 1, column],
        ArrowUp: [row - 1, column],
        ArrowRight: [row, column + 1],
        ArrowLeft: [row, column - 1],
        PageDown: [row + page, column],
        PageUp: [row - page, column],
        Home: event.ctrlKey ? [0, 0] : [row, 0],
        End: event.ctrlKey ? [rows - 1, columns - 1] : [row, columns - 1],
    };
    const step = steps[event.key];
    return step ? { row: Math.max(0, Math.min(rows - 1, step[0])), column: Math.max(0, Math.min(columns - 1, step[1])) } : null;
}

const Spacer = ({ rows }: { rows: number }) => (
    // biome-ignore lint/a11y/noInteractiveElementToNoninteractiveRole: stands for the rows that are not drawn
    <tr class="spacer" role="presentation" style={{ height: `${rows * ROW_HEIGHT}px` }} />
);

export const HeatGrid = settled(({ catalog, onlyFitting, answer, gpus: gpusNow, heat, act, speed }: Props) => {
    const frame = useRef<HTMLDivElement>(null);
    const [top, setTop] = useState(0);
    const [height, setHeight] = useState(560);
    const [focus, setFocus] = useState({ row: 0, column: 0 });
    const wantsFocus = useRef(false);
    const counts = heat.summary.gpu_counts;
    const rows = onlyFitting ? heat.fitting : null;
    const total = rows ? rows.length : heat.first.length - 1;
    const rowAt = (index: number): number => (rows ? (rows[index] ?? 0) : index);
    const current = rowOfPlan(heat, answer);
    const start = Math.max(0, Math.min(Math.floor(top / ROW_HEIGHT) - SPARE_ROWS, total - 1));
    const end = Math.min(total, Math.ceil((top + height) / ROW_HEIGHT) + SPARE_ROWS);
    const at = { row: Math.min(focus.row, Math.max(0, total - 1)), column: Math.min(focus.column, counts.length - 1) };

    // The plan above, else the suggested one, comes into sight whenever there is a new map.
    useLayoutEffect(() => {
        const suggested = heat.summary.auto.find(({ gpus }) => gpus === gpusNow)?.row ?? -1;
        const row = current >= 0 ? current : suggested;
        const index = rows ? rows.indexOf(row) : row;
        if (!frame.current || index < 0) return;
        setHeight(frame.current.clientHeight);
        frame.current.scrollTop = Math.max(0, (index - 3) * ROW_HEIGHT);
        setTop(frame.current.scrollTop);
        const column = frame.current.querySelector<HTMLElement>('thead .now');
        if (column) frame.current.scrollLeft = Math.max(0, column.offsetLeft + column.offsetWidth - frame.current.clientWidth);
        setFocus({ row: index, column: Math.max(0, counts.indexOf(gpusNow)) });
    }, [heat, onlyFitting]);

    useEffect(() => {
        if (!wantsFocus.current) return;
        wantsFocus.current = false;
        frame.current?.querySelector<HTMLElement>('[tabindex="0"][role=gridcell]')?.focus({ preventScroll: true });
    }, [focus]);

    const move = (to: Grid['focus']) => {
        const box = frame.current;
        if (box) {
            const head = ROW_HEIGHT * 3; // the sticky head, and a line to spare
            const under = (to.row + 1) * ROW_HEIGHT + head;
            if (to.row * ROW_HEIGHT < box.scrollTop) box.scrollTop = to.row * ROW_HEIGHT;
            if (under > box.scrollTop + box.clientHeight) box.scrollTop = under - box.clientHeight;
            setTop(box.scrollTop);
        }
        wantsFocus.current = true;
        setFocus(to);
    };
    const open = (entry: number) => {
        if (entry < 0) return;
        const { columns } = heat;
        const degrees = Object.fromEntries(ROW_KEYS.map((key) => [key, columns[key][entry] ?? 'auto']));
        // The cell is the best plan with these degrees: everything else is to be chosen.
        act.change({ ...allAuto(catalog), gpus: columns.gpus[entry] ?? 'auto', ...degrees }, 'choose');
        document.getElementById('answer')?.scrollIntoView({ block: 'center' });
    };
    const onKeyDown = (event: KeyboardEvent) => {
        const to = stepOf(event, at, total, counts.length, Math.max(1, Math.floor(height / ROW_HEIGHT) - 3));
        if (to) move(to);
        else if (event.key === 'Enter' || event.key === ' ') open(entryAt(heat, rowAt(at.row), counts[at.column] ?? 0));
        else return;
        event.preventDefault();
    };
    if (total === 0) return <Nothing onlyFitting={onlyFitting} act={act} />;
    const grid: Grid = { answer, heat, speed, current, gpusNow, focus: at, open, setFocus };
    return (
        <div ref={frame} class="grid" onScroll={(event) => setTop(event.currentTarget.scrollTop)}>
            <table
                role="grid"
                aria-label={say('map.grid', { speed })}
                aria-rowcount={total + 2}
                aria-colcount={ROW_KEYS.length + counts.length}
                onKeyDown={onKeyDown}
            >
                <Head catalog={catalog} counts={counts} gpusNow={gpusNow} />
                <tbody>
                    <Spacer rows={start} />
                    {Array.from({ length: Math.max(0, end - start) }, (_, i) => start + i).map((index) => (
                        <Line
                            key={rowAt(index)}
                            grid={grid}
                            index={index}
                            row={rowAt(index)}
                            before={index > 0 ? rowAt(index - 1) : null}
                        />
                    ))}
                    <Spacer rows={total - end} />
                </tbody>
            </table>
        </div>
    );
});
