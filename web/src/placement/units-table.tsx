import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Measured } from '../core/types';
import { format } from '../format/format';
import { problemText } from '../shared/names';
import { say, sentences } from '../words/words';
import { blankRow, type Cell, filledRows, pastedRows, type RowProblem, type UnitRow, withPasted } from './units';

// A table of the nodes that differ from the others, folded until someone has such nodes.
const CELLS: readonly Cell[] = ['name', 'speed', 'memory'];
const NAMES = 'unit-names'; // of those measured, offered while one types

const fieldId = (id: number, cell: Cell): string => `unit-${id}-${cell}`;

interface RowProps {
    row: UnitRow;
    index: number;
    gpus: boolean;
    card: string;
    problems: readonly RowProblem[];
    change(row: UnitRow): void;
    paste(text: string): boolean; // were these rows?
    remove(): void;
}

function Row({ row, index, gpus, card, problems, change, paste, remove }: RowProps) {
    const wrong = `unit-${row.id}-wrong`;
    const count = index + 1;
    const labels = {
        name: say('placement.units.name_of', { gpus, row: count }),
        speed: say('placement.units.speed_of', { row: count }),
        memory: say('placement.units.memory_of', { row: count }),
    };
    const named = row.name.trim();
    const removal = named ? say('placement.units.remove_of', { name: named }) : say('placement.units.remove_row', { row: count });
    const hints = { name: '', speed: format.count(100), memory: card };
    return (
        <>
            <tr>
                {CELLS.map((cell) => {
                    const bad = problems.some((one) => one.cell === cell);
                    return (
                        <td key={cell}>
                            <input
                                id={fieldId(row.id, cell)}
                                type="text"
                                class={cell}
                                aria-label={labels[cell]}
                                aria-invalid={bad}
                                aria-describedby={bad ? wrong : undefined}
                                autocomplete="off"
                                autocapitalize="off"
                                spellcheck={false}
                                placeholder={hints[cell]}
                                {...(cell === 'name' ? { list: NAMES } : { inputmode: 'decimal' as const, maxLength: 24 })}
                                value={row[cell]}
                                onInput={({ currentTarget }) => change({ ...row, [cell]: currentTarget.value })}
                                onPaste={(event) => {
                                    if (cell === 'name' && paste(event.clipboardData?.getData('text') ?? '')) event.preventDefault();
                                }}
                            />
                        </td>
                    );
                })}
                <td>
                    <button type="button" class="link" aria-label={removal} onClick={remove}>
                        {say('placement.units.remove')}
                    </button>
                </td>
            </tr>
            {problems.length > 0 && (
                <tr>
                    <td id={wrong} class="because" colSpan={4}>
                        {problems.map(({ cell, problem }) => (
                            <p key={problem.field}>
                                {sentences(problemText(problem), cell === 'speed' && say('placement.units.as_share'))}
                            </p>
                        ))}
                    </td>
                </tr>
            )}
        </>
    );
}

interface Props {
    rows: readonly UnitRow[];
    set(rows: UnitRow[]): void;
    measured: Measured;
    card: number; // GB
    problems: ReadonlyMap<number, readonly RowProblem[]>;
    wanted: number; // counts the wishes to see what is wrong
}

export function Units({ rows, set, measured: { names, gpus }, card, problems, wanted }: Props) {
    const filled = filledRows(rows).length;
    const [open, setOpen] = useState(filled > 0);
    const goTo = useRef<string | null>(null);
    const adding = useRef<HTMLButtonElement>(null);
    useLayoutEffect(() => {
        if (goTo.current === null) return;
        const field = document.getElementById(goTo.current);
        goTo.current = null;
        (field ?? adding.current)?.focus();
    });
    useEffect(() => {
        if (problems.size > 0) setOpen(true);
    }, [problems.size]);
    useEffect(() => {
        if (wanted === 0) return;
        setOpen(true);
        const first = rows.flatMap(({ id }) => problems.get(id)?.map(({ cell }) => fieldId(id, cell)) ?? [])[0];
        requestAnimationFrame(() => document.getElementById(first ?? '')?.focus());
    }, [wanted]);
    const add = () => {
        const row = blankRow(rows);
        goTo.current = fieldId(row.id, 'name');
        set([...rows, row]);
    };
    const remove = (index: number) => {
        const next = rows[index + 1] ?? rows[index - 1];
        goTo.current = next ? fieldId(next.id, 'name') : '';
        set(rows.filter((_, i) => i !== index));
    };
    const paste = (id: number, text: string): boolean => {
        const pasted = pastedRows(text);
        if (pasted) set(withPasted(rows, id, pasted));
        return pasted !== null;
    };
    return (
        <details
            class="units"
            open={open}
            onToggle={({ currentTarget }) => {
                setOpen(currentTarget.open);
                if (currentTarget.open && rows.length === 0) set([blankRow(rows)]);
            }}
        >
            <summary>
                {filled > 0 ? say('placement.units.title_said', { gpus, count: filled }) : say('placement.units.title', { gpus })}
            </summary>
            {open && (
                <>
                    <p class="note">{say('placement.units.intro', { gpus, card: format.nominal(card) })}</p>
                    <datalist id={NAMES}>
                        {names.map((name) => (
                            <option key={name} value={name} />
                        ))}
                    </datalist>
                    {rows.length > 0 && (
                        <table>
                            <thead>
                                <tr>
                                    <th scope="col">{say('placement.units.name', { gpus })}</th>
                                    <th scope="col">{say('placement.units.speed')}</th>
                                    <th scope="col">{say('placement.units.memory')}</th>
                                    <td />
                                </tr>
                            </thead>
                            <tbody>
                                {rows.map((row, index) => (
                                    <Row
                                        key={row.id}
                                        row={row}
                                        index={index}
                                        gpus={gpus}
                                        card={format.nominal(card)}
                                        problems={problems.get(row.id) ?? []}
                                        change={(changed) => set(rows.map((one) => (one.id === row.id ? changed : one)))}
                                        paste={(text) => paste(row.id, text)}
                                        remove={() => remove(index)}
                                    />
                                ))}
                            </tbody>
                        </table>
                    )}
                    <p class="acts">
                        <button ref={adding} type="button" onClick={add}>
                            {say('placement.units.add', { gpus })}
                        </button>
                    </p>
                </>
            )}
        </details>
    );
}
