import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Estimate, Fit } from '../api';
import { format } from '../format';
import { entryAt, type Heat, paceOf } from '../heat';
import { t } from '../i18n';
import { m } from '../i18n/more';
import { labelOf } from '../sentences';
import { allAuto } from '../state';
import type { Actions, Page } from '../store';
import { settled } from './settled';

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
    const focusRow = Math.min(focus.row, Math.max(0, total - 1));
    const focusColumn = Math.min(focus.column, counts.length - 1);

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

    const move = (row: number, column: number) => {
        const to = { row: Math.max(0, Math.min(total - 1, row)), column: Math.max(0, Math.min(counts.length - 1, column)) };
        const box = frame.current;
        if (box) {
            const head = ROW_HEIGHT * 3; // the sticky head, and a line to spare
            if (to.row * ROW_HEIGHT < box.scrollTop) box.scrollTop = to.row * ROW_HEIGHT;
            if ((to.row + 1) * ROW_HEIGHT + head > box.scrollTop + box.clientHeight)
                box.scrollTop = (to.row + 1) * ROW_HEIGHT + head - box.clientHeight;
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
        const page = Math.max(1, Math.floor(height / ROW_HEIGHT) - 3);
        const steps: Record<string, [number, number]> = {
            ArrowDown: [focusRow + 1, focusColumn],
            ArrowUp: [focusRow - 1, focusColumn],
            ArrowRight: [focusRow, focusColumn + 1],
            ArrowLeft: [focusRow, focusColumn - 1],
            PageDown: [focusRow + page, focusColumn],
            PageUp: [focusRow - page, focusColumn],
            Home: event.ctrlKey ? [0, 0] : [focusRow, 0],
            End: event.ctrlKey ? [total - 1, counts.length - 1] : [focusRow, counts.length - 1],
        };
        const step = steps[event.key];
        if (step) move(...step);
        else if (event.key === 'Enter' || event.key === ' ') open(entryAt(heat, rowAt(focusRow), counts[focusColumn] ?? 0));
        else return;
        event.preventDefault();
    };

    if (total === 0) {
        return (
            <p class="empty">
                {m.heat.nothing}{' '}
                {onlyFitting && (
                    <button type="button" onClick={() => act.onlyFitting(false)}>
                        {m.heat.showAll}
                    </button>
                )}
            </p>
        );
    }
    const paceClass = (entry: number): string => `pace-${paceOf(heat.columns.tokens_per_s_per_gpu[entry] ?? 0, heat.quickest)}`;
    const cell = (index: number, row: number, gpus: number, column: number) => {
        const entry = entryAt(heat, row, gpus);
        const kind = entry < 0 ? undefined : heat.columns.class[entry];
        const fit = kind === undefined ? undefined : FITS[kind];
        const marks = [
            row === current && gpus === gpusNow && 'mark-current',
            heat.summary.auto.some((auto) => auto.gpus === gpus && auto.row === row) && 'mark-auto',
        ].filter(Boolean);
        const size =
            entry < 0
                ? ''
                : speed
                  ? format.rounded(heat.columns.tokens_per_s_per_gpu[entry] ?? 0)
                  : format.gb(heat.columns.total_bytes[entry] ?? 0);
        const words = fit
            ? (speed ? m.heat.cellSpeed : m.heat.cell)(format.count(gpus), size, t.word[fit])
            : `${m.heat.gpus(format.count(gpus))}: ${m.heat.none}`;
        // The plan above may have other settings than the best one with its degrees.
        const same = answer?.total_bytes === heat.columns.total_bytes[entry];
        const extra = [
            marks.includes('mark-current') && (same ? m.heat.current : m.heat.currentSplit),
            marks.includes('mark-auto') && m.heat.auto,
        ].filter(Boolean);
        return (
            <td
                key={gpus}
                role="gridcell"
                class={`cell ${speed && fit === 'fits' ? paceClass(entry) : (fit ?? 'none')} ${marks.join(' ')}`}
                aria-colindex={ROW_KEYS.length + column + 1}
                aria-label={[words, ...extra].join(', ')}
                tabIndex={index === focusRow && column === focusColumn ? 0 : -1}
                onClick={() => open(entry)}
                onFocus={() => (index !== focusRow || column !== focusColumn) && setFocus({ row: index, column })}
            >
                {fit ? `${size}${SIGNS[kind ?? 0]}` : '·'}
            </td>
        );
    };
    const rowLine = (index: number) => {
        const row = rowAt(index);
        const entry = heat.first[row] ?? 0;
        const before = index > 0 ? (heat.first[rowAt(index - 1)] ?? 0) : -1;
        // A value that repeats the line above is set back, and a new group gets a rule.
        const same = (upTo: number) =>
            before >= 0 && ROW_KEYS.slice(0, upTo + 1).every((key) => heat.columns[key][entry] === heat.columns[key][before]);
        return (
            <tr key={row} aria-rowindex={index + 3} class={same(0) ? undefined : 'group'}>
                {ROW_KEYS.map((key, i) => (
                    <th key={key} scope="row" class={same(i) ? `k${i} same` : `k${i}`}>
                        {format.count(heat.columns[key][entry] ?? 0)}
                    </th>
                ))}
                {counts.map((gpus, column) => cell(index, row, gpus, column))}
            </tr>
        );
    };
    return (
        <div ref={frame} class="grid" onScroll={(event) => setTop(event.currentTarget.scrollTop)}>
            <table
                role="grid"
                aria-label={speed ? m.heat.gridSpeed : m.heat.grid}
                aria-rowcount={total + 2}
                aria-colcount={ROW_KEYS.length + counts.length}
                onKeyDown={onKeyDown}
            >
                <thead>
                    <tr aria-rowindex={1}>
                        <th scope="colgroup" colSpan={ROW_KEYS.length} class="corner">
                            {m.heat.splitHead}
                        </th>
                        <th scope="colgroup" colSpan={counts.length} class="counts">
                            {m.heat.gpusHead}
                        </th>
                    </tr>
                    <tr aria-rowindex={2}>
                        {ROW_KEYS.map((key, i) => (
                            <th key={key} scope="col" class={`k${i}`} aria-label={labelOf(catalog.fields, key)}>
                                <span class="long">{t.short[key]}</span>
                                <span class="brief">{t.letters[key]}</span>
                            </th>
                        ))}
                        {counts.map((gpus) => (
                            <th key={gpus} scope="col" class={gpus === gpusNow ? 'now' : undefined}>
                                {format.count(gpus)}
                            </th>
                        ))}
                    </tr>
                </thead>
                <tbody>
                    {/* biome-ignore lint/a11y/noInteractiveElementToNoninteractiveRole: stands for the rows that are not drawn */}
                    <tr class="spacer" role="presentation" style={{ height: `${start * ROW_HEIGHT}px` }} />
                    {Array.from({ length: Math.max(0, end - start) }, (_, i) => rowLine(start + i))}
                    {/* biome-ignore lint/a11y/noInteractiveElementToNoninteractiveRole: stands for the rows that are not drawn */}
                    <tr class="spacer" role="presentation" style={{ height: `${(total - end) * ROW_HEIGHT}px` }} />
                </tbody>
            </table>
        </div>
    );
});
