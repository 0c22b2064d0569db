import { useState } from 'preact/hooks';
import { format } from '../format/format';
import { percentTenth } from '../format/tenths';
import { isSaid, say, sentences } from '../words/words';
import { type Column, ProofTable } from './proof-table';
import {
    type EvidenceTable,
    type Filter,
    type FitRow,
    fitRows,
    isShown,
    type MemoryRow,
    memoryRows,
    type Source,
    STANDINGS,
    type Standing,
    stacksOf,
    summaryOf,
    type TimeRow,
    timeRows,
} from './table';

const DASH = '–';
const WORST = 6; // rows that stand there at once

// A family that came without words is told by its source, and at the worst by its id.
type Named = { id: string; from: Source | undefined };
export const familyName = ({ id, from }: Named): string =>
    isSaid(`measured.family.${id}`) ? say(`measured.family.${id}` as 'measured.family.bloom') : (from?.source ?? id);

const share = (part: number | null): string => (part === null ? DASH : percentTenth(part));
const ofSaid = (pair: [number, number] | null): string => (pair ? say('measured.of', { part: pair[0], all: pair[1] }) : DASH);

const SourceLink = ({ from }: { from: Source | undefined }) => (from ? <a href={from.url}>{from.source}</a> : null);

const stack = <Row extends Named>(): Column<Row> => ({
    id: 'stack',
    head: say('measured.head.stack'),
    cell: ({ from }) => from?.stack ?? DASH,
});
const standing = <Row extends Named>(): Column<Row> => ({
    id: 'standing',
    head: say('measured.head.standing'),
    cell: ({ from }) => (from ? <span class={`standing ${from.standing}`}>{say(`measured.standing.${from.standing}`)}</span> : DASH),
});

const number = <Row,>(id: string, head: string, cell: (row: Row) => string): Column<Row> => ({ id, head, cell, number: true });

const timeColumns = (): Column<TimeRow>[] => [
    {
        id: 'family',
        head: say('measured.head.family'),
        cell: (row) => (
            <>
                {familyName(row)}{' '}
                <small>
                    <SourceLink from={row.from} />
                </small>
            </>
        ),
    },
    stack(),
    number('rows', say('measured.head.rows'), ({ rows }) => format.count(rows)),
    number('mean', say('measured.head.mean'), ({ mean }) => share(mean)),
    number('median', say('measured.head.median'), ({ median }) => share(median)),
    number('inside', say('measured.head.inside'), ({ inside }) => format.percent(inside)),
    number('regret', say('measured.head.regret'), ({ regret }) => share(regret)),
    number('rule', say('measured.head.rule'), ({ ruleRegret }) => share(ruleRegret)),
    standing(),
];

const fitColumns = (): Column<FitRow>[] => [
    {
        id: 'source',
        head: say('measured.head.source'),
        cell: (row) => (
            <>
                <SourceLink from={row.from} /> {row.part && <small>{familyName(row)}</small>}
            </>
        ),
    },
    number('ran', say('measured.head.ran'), ({ ran }) => format.count(ran)),
    number('failed', say('measured.head.failed'), ({ failed }) => (failed > 0 ? format.count(failed) : DASH)),
    number('fits', say('measured.head.fits'), ({ fits }) => ofSaid(fits)),
    number('no', say('measured.head.does_not_fit'), ({ doesNotFit }) => ofSaid(doesNotFit)),
    number('area', say('measured.head.area'), ({ area }) => share(area)),
    standing(),
];

const memoryColumns = (): Column<MemoryRow>[] => [
    { id: 'family', head: say('measured.head.family'), cell: (row) => familyName(row) },
    { id: 'source', head: say('measured.head.source'), cell: ({ from }) => (from ? <SourceLink from={from} /> : DASH) },
    number('rows', say('measured.head.rows'), ({ rows }) => format.count(rows)),
    number('mean', say('measured.head.mean'), ({ mean }) => share(mean)),
    number('most', say('measured.head.most'), ({ most }) => share(most)),
    standing(),
];

interface FiltersProps {
    table: EvidenceTable;
    filter: Filter;
    choose(filter: Filter): void;
}

function Filters({ table, filter, choose }: FiltersProps) {
    return (
        <p class="proof-filters">
            <label>
                {say('measured.filter.stack')}{' '}
                <select value={filter.stack} onChange={({ currentTarget }) => choose({ ...filter, stack: currentTarget.value })}>
                    <option value="">{say('measured.filter.all')}</option>
                    {stacksOf(table).map((one) => (
                        <option key={one} value={one}>
                            {one}
                        </option>
                    ))}
                </select>
            </label>
            <label>
                {say('measured.filter.standing')}{' '}
                <select
                    value={filter.standing}
                    onChange={({ currentTarget }) => choose({ ...filter, standing: currentTarget.value as Standing | '' })}
                >
                    <option value="">{say('measured.filter.all')}</option>
                    {STANDINGS.map((one) => (
                        <option key={one} value={one}>
                            {say(`measured.standing.${one}`)}
                        </option>
                    ))}
                </select>
            </label>
        </p>
    );
}

// The sentence for whoever reads one sentence.
function Takeaway({ table }: { table: EvidenceTable }) {
    const { families, runs, middle, worst, inside, known, fits, fitsRan, doesNotFit, doesNotFitRan, blind, fitted } = summaryOf(table);
    if (!worst) return null;
    const time = say('measured.summary', { families, runs, middle, inside, worst: worst.mean, name: familyName(worst) });
    const verdict = say('measured.summary_fit', { known, fits, ran: fitsRan, no: doesNotFit, no_ran: doesNotFitRan });
    return <p class="takeaway">{sentences(time, verdict, say('measured.summary_blind', { blind, fitted, families }))}</p>;
}

// How far the estimates were from measured runs, the worst first.
export function Measured({ table }: { table: EvidenceTable }) {
    const [filter, choose] = useState<Filter>({ stack: '', standing: '' });
    const memory = memoryRows(table);
    const shown = isShown(filter);
    return (
        <>
            <Takeaway table={table} />
            <Filters table={table} filter={filter} choose={choose} />
            <dl class="standings">
                {STANDINGS.map((one) => (
                    <div key={one}>
                        <dt>{say(`measured.standing.${one}`)}</dt>
                        <dd>{say(`measured.means.${one}`)}</dd>
                    </div>
                ))}
            </dl>
            <h3>{say('measured.time')}</h3>
            <p class="note">{sentences(say('measured.time_note'), say('measured.choice_note'), say('measured.dash_note'))}</p>
            <ProofTable label={say('measured.time')} columns={timeColumns()} rows={timeRows(table).filter(shown)} first={WORST} />
            <h3>{say('measured.fit')}</h3>
            <p class="note">{say('measured.fit_note')}</p>
            <ProofTable label={say('measured.fit')} columns={fitColumns()} rows={fitRows(table).filter(shown)} first={WORST} />
            {memory.length > 0 && (
                <>
                    <h3>{say('measured.memory')}</h3>
                    <p class="note">{say('measured.memory_note')}</p>
                    <ProofTable label={say('measured.memory')} columns={memoryColumns()} rows={memory.filter(shown)} first={WORST} />
                </>
            )}
        </>
    );
}
