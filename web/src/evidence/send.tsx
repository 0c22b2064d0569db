import './send.css';
import { useState } from 'preact/hooks';
import type { CalibrationRow, Estimate } from '../core/api';
import { spanIn } from '../format/spans';
import { Folded } from '../shared/folded';
import { NumberField } from '../shared/number-field';
import { repository } from '../shared/repository';
import type { Value } from '../state/state';
import type { Page } from '../store/page';
import { say, sentences } from '../words/words';
import { FIELDS, formAddress, NOTHING, type Reading, reportOf } from './report';

export interface SendProps {
    page: Page;
    answer: Estimate;
    rows?: readonly CalibrationRow[]; // the reader's own runs; without any, one run of the plan shown is asked for
    lines?: string;
}

const positive = (value: Value): number => (typeof value === 'number' && value > 0 ? value : 0);

type Typed = Record<'seconds' | 'gib', Value>; // "": not given
const WRITTEN = { seconds: { kind: {}, apart: spanIn(1) }, gib: { kind: { unit: 'gib' } } } as const;

function Readings({ typed, set }: { typed: Typed; set(typed: Typed): void }) {
    return (
        <div class="row">
            {(['seconds', 'gib'] as const).map((key) => {
                const invalid = typed[key] !== '' && positive(typed[key]) === 0;
                const id = `send-${key}`;
                return (
                    <div key={key} class="field number">
                        <label for={id}>{say(`send.${key}`)}</label>
                        <NumberField
                            id={id}
                            label={say(`send.${key}`)}
                            value={typed[key]}
                            {...WRITTEN[key]}
                            invalid={invalid}
                            describedBy={invalid ? `${id}-wrong` : undefined}
                            onChange={(value) => set({ ...typed, [key]: value })}
                        />
                        {invalid && (
                            <p id={`${id}-wrong`} class="wrong">
                                {say('send.no_number', { typed: String(typed[key]) })}
                            </p>
                        )}
                    </div>
                );
            })}
        </div>
    );
}

// A link to the repository's form, filled with the plan and what was measured. What leaves the page with it stands above it.
export function SendRun({ page, answer, rows = [], lines = '' }: SendProps) {
    const [typed, set] = useState<Typed>({ seconds: '', gib: '' });
    const to = repository();
    if (to === '') return null;
    const reading: Reading =
        rows.length > 0 ? { ...NOTHING, rows, lines } : { ...NOTHING, seconds: positive(typed.seconds), gib: positive(typed.gib) };
    const report = reportOf(page, answer, reading);
    const { url, left } = formAddress(to, report);
    const { host } = new URL(to);
    return (
        <Folded title={say('send.title')}>
            <div class="send">
                <p class="note">{say('send.intro')}</p>
                {rows.length === 0 && <Readings typed={typed} set={set} />}
                <p class="note">{sentences(say('send.nothing_yet'), say('send.leaves', { host }))}</p>
                <dl>
                    {FIELDS.filter((id) => report[id] !== undefined && !left.includes(id)).map((id) => (
                        <div key={id}>
                            <dt>{say(`send.field.${id}`)}</dt>
                            <dd>{report[id]}</dd>
                        </div>
                    ))}
                </dl>
                {left.length > 0 && <p class="note">{say('send.too_long', { fields: left.map((id) => say(`send.field.${id}`)) })}</p>}
                <p class="acts">
                    <a href={url} target="_blank" rel="noreferrer">
                        {say('send.open', { host })}
                    </a>
                </p>
            </div>
        </Folded>
    );
}
