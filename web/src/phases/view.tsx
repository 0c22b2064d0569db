import './phases.css';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { PhasedRun, Refusal } from '../core/api';
import { NumberField } from '../shared/number-field';
import { PHASES_PARAMETER, withView } from '../state/view';
import type { Page } from '../store/page';
import { say } from '../words/words';
import { askedOf, type Phaser, rowOf } from './ask';
import { COLUMNS, formatPhases, MOST_PHASES, type Phased, parsePhases, type Row, TROUBLES, type Trouble } from './link';
import presets from './presets.json';
import { Outcome } from './result';

interface RowsProps {
    rows: readonly Row[];
    set(rows: Row[]): void;
}

function PhaseRow({ rows, at, set }: RowsProps & { at: number }) {
    const row = rows[at] as Row;
    const swap = (other: number): void => {
        const next = [...rows];
        [next[at], next[other]] = [next[other] as Row, row];
        set(next);
    };
    const phase = at + 1;
    return (
        <tr>
            <th scope="row">{phase}</th>
            {COLUMNS.map((key) => (
                <td key={key}>
                    <NumberField
                        id={`phase-${phase}-${key}`}
                        label={say('phases.cell', { phase, what: say(`phases.${key}`) })}
                        value={row[key]}
                        amount
                        invalid={typeof row[key] !== 'number'}
                        onChange={(value) => set(rows.map((one, i) => (i === at ? { ...one, [key]: value } : one)))}
                    />
                </td>
            ))}
            <td class="acts">
                <button type="button" disabled={at === 0} aria-label={say('phases.up', { phase })} onClick={() => swap(at - 1)}>
                    ↑
                </button>
                <button
                    type="button"
                    disabled={rows.length === 1}
                    aria-label={say('phases.remove', { phase })}
                    onClick={() => set(rows.filter((_, i) => i !== at))}
                >
                    ×
                </button>
            </td>
        </tr>
    );
}

function PhaseRows({ rows, set }: RowsProps) {
    return (
        <section class="scroll" aria-label={say('section.phases')}>
            <table class="rows" aria-label={say('phases.table')}>
                <thead>
                    <tr>
                        <th scope="col">{say('phases.phase')}</th>
                        {COLUMNS.map((key) => (
                            <th key={key} scope="col">
                                {say(`phases.${key}`)}
                            </th>
                        ))}
                        <td />
                    </tr>
                </thead>
                <tbody>
                    {rows.map((_, at) => (
                        <PhaseRow key={at} rows={rows} at={at} set={set} />
                    ))}
                </tbody>
            </table>
            <p class="acts">
                <button type="button" disabled={rows.length >= MOST_PHASES} onClick={() => set([...rows, { ...(rows.at(-1) as Row) }])}>
                    {say('phases.add')}
                </button>
            </p>
        </section>
    );
}

type Open = 'storage_gbyte_per_s' | 'failure_hours_per_gpu' | 'checkpoint_seconds';
const isOpen = (key: Trouble): key is Open => TROUBLES[key] === 'auto';

function Options({ phased, change }: { phased: Phased; change(part: Partial<Phased>): void }) {
    return (
        <p class="options">
            {(Object.keys(TROUBLES) as Trouble[]).map((key) => (
                <label key={key} for={`phases-${key}`}>
                    <span>{say(`phases.${key}`)}</span>
                    <NumberField
                        id={`phases-${key}`}
                        label={say(`phases.${key}`)}
                        value={phased[key]}
                        auto={isOpen(key)}
                        decimals={{ min: 0, max: 1e12 }}
                        placeholder={isOpen(key) ? say(`phases.${key}_auto`) : ''}
                        invalid={false}
                        onChange={(value) => change({ [key]: value })}
                    />
                </label>
            ))}
            <label>
                <input
                    type="checkbox"
                    checked={phased.keep_degrees}
                    onChange={(event) => change({ keep_degrees: event.currentTarget.checked })}
                />{' '}
                {say('phases.keep_degrees')}
            </label>
        </p>
    );
}

type Answer = PhasedRun | Refusal | 'working' | 'failed' | null;

export function PhasesView({ page, phaser }: { page: Page; phaser: Phaser }) {
    const [phased, set] = useState<Phased>(
        () =>
            parsePhases(new URLSearchParams(location.search).get(PHASES_PARAMETER)) ?? {
                rows: [rowOf(page.job)],
                keep_degrees: false,
                ...TROUBLES,
            },
    );
    const [answer, tell] = useState<Answer>(null);
    const asked = useRef(0);
    useEffect(() => tell(null), [page.job]);
    useEffect(() => () => phaser.stop(), []);
    const change = (part: Partial<Phased>): void => {
        const next = { ...phased, ...part };
        asked.current += 1;
        set(next);
        tell(null);
        history.replaceState(history.state, '', withView(location.search, PHASES_PARAMETER, formatPhases(next)) + location.hash);
    };
    const ask = (): void => {
        asked.current += 1;
        const mine = asked.current;
        tell('working');
        const done = (result: Answer): void => {
            if (mine === asked.current) tell(result);
        };
        phaser.phases(askedOf(page.job, phased)).then(done, () => done('failed'));
    };
    const stop = (): void => {
        asked.current += 1;
        phaser.stop();
        tell(null);
    };
    return (
        <>
            <p class="acts">
                <span class="note">{say('phases.presets')}</span>
                {presets.map(({ id, phases }) => (
                    <button key={id} type="button" onClick={() => change(parsePhases(phases) ?? {})}>
                        {say(`phases.preset_${id as 'smollm3'}`)}
                    </button>
                ))}
            </p>
            <PhaseRows rows={phased.rows} set={(rows) => change({ rows })} />
            <Options phased={phased} change={change} />
            <p class="acts">
                {answer === 'working' ? (
                    <button type="button" onClick={stop}>
                        {say('phases.stop')}
                    </button>
                ) : (
                    <button type="button" class="prime" onClick={ask}>
                        {say('phases.ask')}
                    </button>
                )}
            </p>
            <div role="status">
                {answer === 'working' && <p class="note">{say('phases.working')}</p>}
                {answer === 'failed' && <p class="note">{say('phases.failed')}</p>}
                {answer !== null && typeof answer === 'object' && <Outcome answer={answer} catalog={page.catalog} />}
            </div>
        </>
    );
}
