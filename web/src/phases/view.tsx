import '../shared/stacked.css';
import './phases.css';
import type { PhasedRun, Refusal } from '../core/api';
import { spanIn } from '../format/spans';
import { problemAttributes } from '../shared/field-problems';
import { NumberField } from '../shared/number-field';
import { wrongAt } from '../shared/refused';
import { AskButton, type Asked, AskStatus, useAsked } from '../shared/use-asked';
import { useLinked } from '../shared/use-linked';
import { PHASES_PARAMETER } from '../state/view';
import type { Page } from '../store/page';
import { say } from '../words/words';
import { askedOf, type Phaser, rowOf } from './ask';
import { COLUMNS, formatPhases, LIKE, MOST_PHASES, type Phased, parsePhases, type Row, TROUBLES, type Trouble } from './link';
import presets from './presets.json';
import { Outcome } from './result';

type Answer = Asked<PhasedRun | Refusal>;

interface RowsProps {
    page: Page;
    answer: Answer;
    rows: readonly Row[];
    set(rows: Row[], typed?: string): void;
}

const attributes = (answer: Answer, field: string, isText: boolean) => {
    const said = wrongAt(answer, field);
    return { ...said, invalid: isText || said.wrong !== undefined };
};

function PhaseRow({ page, answer, rows, at, set }: RowsProps & { at: number }) {
    const row = rows[at] as Row;
    const swap = (other: number): void => {
        const next = [...rows];
        [next[at], next[other]] = [next[other] as Row, row];
        set(next);
    };
    const phase = at + 1;
    return (
        <tr>
            <th scope="row" data-head={say('phases.phase')}>
                {phase}
            </th>
            {COLUMNS.map((key) => (
                <td key={key} data-head={say(`phases.${key}`)}>
                    <NumberField
                        id={`phase-${phase}-${key}`}
                        label={say('phases.cell', { phase, what: say(`phases.${key}`) })}
                        value={row[key]}
                        kind={problemAttributes(page, LIKE[key]).kind}
                        {...attributes(answer, `phases[${at}].${key}`, typeof row[key] !== 'number')}
                        onChange={(value) =>
                            set(
                                rows.map((one, i) => (i === at ? { ...one, [key]: value } : one)),
                                `${at} ${key}`,
                            )
                        }
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

function PhaseRows(props: RowsProps) {
    const { rows, set } = props;
    return (
        <section class="scroll stacked" aria-label={say('phases.table')}>
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
                        <PhaseRow key={at} {...props} at={at} />
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

const HOUR = 3600; // seconds
const WRITTEN = {
    storage_gbyte_per_s: { kind: { unit: 'gbyte_per_s' } },
    restart_seconds: { apart: spanIn(1) },
    failure_hours_per_gpu: { apart: spanIn(HOUR) },
    checkpoint_seconds: { apart: spanIn(1) },
} as const;

type Open = 'storage_gbyte_per_s' | 'failure_hours_per_gpu' | 'checkpoint_seconds';
const isOpen = (key: Trouble): key is Open => TROUBLES[key] === 'auto';

function Options({ answer, phased, change }: { answer: Answer; phased: Phased; change(part: Partial<Phased>, typed?: string): void }) {
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
                        {...attributes(answer, key, false)}
                        {...WRITTEN[key]}
                        onChange={(value) => change({ [key]: value }, key)}
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

export function PhasesView({ page, phaser }: { page: Page; phaser: Phaser }) {
    const [phased, set] = useLinked<Phased>(
        PHASES_PARAMETER,
        (text) => parsePhases(text) ?? { rows: [rowOf(page)], keep_degrees: false, ...TROUBLES },
        formatPhases,
    );
    const [answer, ask, stop] = useAsked(
        () => phaser.phases(askedOf(page.job, phased)),
        () => phaser.stop(),
        [page.job, phased],
    );
    const change = (part: Partial<Phased>, typed?: string): void => set({ ...phased, ...part }, typed);
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
            <PhaseRows page={page} answer={answer} rows={phased.rows} set={(rows, typed) => change({ rows }, typed)} />
            <Options answer={answer} phased={phased} change={change} />
            <p class="acts">
                <AskButton answer={answer} ask={ask} stop={stop} label={say('phases.ask')} />
            </p>
            <AskStatus answer={answer} working={say('phases.working')}>
                {answer !== null && typeof answer === 'object' && <Outcome answer={answer} rows={phased.rows} catalog={page.catalog} />}
            </AskStatus>
        </>
    );
}
