import { useState } from 'preact/hooks';
import type { Estimate, TimeItem, TimeKind } from '../core/api';
import { format } from '../format/format';
import { t } from '../i18n';
import { m } from '../i18n/more';
import { TimeFill } from '../shared/chart';
import { CopyButton } from '../shared/copy-button';
import { rateOf } from '../shared/sentences';
import type { Actions, Page } from '../store/page';
import { Explanation } from './card';

const asTable = ({ time }: Estimate): string =>
    [
        [t.time.label, m.time.seconds, m.time.share],
        ...time.items.map((item) => [item.label, format.number(item.seconds), format.percent(item.share)]),
        [m.time.total, format.number(time.step_seconds), format.percent(1)],
    ]
        .map((cells) => cells.join('\t'))
        .join('\n');

function Row({ item, open, toggle }: { item: TimeItem; open: boolean; toggle(): void }) {
    return (
        <>
            <tr class={open ? 'open' : undefined}>
                <th scope="row">
                    <button type="button" class="row" aria-expanded={open} onClick={toggle}>
                        <svg class="swatch" width="14" height="14" aria-hidden="true">
                            <TimeFill kind={item.kind} />
                        </svg>
                        <span>
                            {item.label} <small>{item.summary}</small>
                        </span>
                    </button>
                </th>
                <td class="r">{format.duration(item.seconds)}</td>
                <td class="r">{format.percent(item.share)}</td>
            </tr>
            {open && (
                <tr class="detail">
                    <td colSpan={3}>
                        <article class={`item-card t-${item.kind}`} aria-label={item.label}>
                            <Explanation
                                item={item}
                                result={format.duration(item.seconds)}
                                latexResult={`${item.seconds}\\ \\text{s}`}
                                write={format.measured}
                            >
                                <button type="button" onClick={toggle}>
                                    {m.card.close}
                                </button>
                            </Explanation>
                        </article>
                    </td>
                </tr>
            )}
        </>
    );
}

// Every item of a step with its formula; `chosen` is the part of the bar that the reader has opened.
export interface TimeTableProps {
    page: Page;
    answer: Estimate;
    chosen: TimeKind | null;
    act: Actions;
}

// By which convention MFU and TFLOP/s are stated. It changes no time.
function Rates({ page, answer, act }: Omit<TimeTableProps, 'chosen'>) {
    const { time } = answer;
    const { id, label, help, mfu, tflop_per_s_per_gpu } = rateOf(answer, page);
    const peak = t.time.peak(format.count(time.peak_tflop_per_s), time.peak_format);
    return (
        <>
            <fieldset class="filters switch">
                <legend>{m.time.count}</legend>
                {time.rates.map((rate) => (
                    <button key={rate.id} type="button" aria-pressed={rate.id === id} onClick={() => act.showRate(rate.id)}>
                        {rate.label}
                    </button>
                ))}
            </fieldset>
            <p class="note" aria-live="polite">
                {m.time.convention(label, format.percent(mfu), peak, format.rounded(tflop_per_s_per_gpu))} {help}
            </p>
        </>
    );
}

export function TimeTable({ page, answer, chosen, act }: TimeTableProps) {
    const { time } = answer;
    const largest = time.items.filter((item) => item.kind === chosen).sort((a, b) => b.seconds - a.seconds)[0];
    const [open, setOpen] = useState(largest?.id);
    return (
        <div class="items time-items">
            <table>
                <thead>
                    <tr>
                        <th scope="col">{t.time.label}</th>
                        <th scope="col" class="r">
                            {m.time.time}
                        </th>
                        <th scope="col" class="r">
                            {m.time.share}
                        </th>
                    </tr>
                </thead>
                <tbody>
                    {time.items.map((item) => (
                        <Row
                            key={item.id}
                            item={item}
                            open={open === item.id}
                            toggle={() => setOpen(open === item.id ? undefined : item.id)}
                        />
                    ))}
                </tbody>
                <tbody class="total">
                    <tr>
                        <th scope="row">{m.time.total}</th>
                        <td class="r">{format.duration(time.step_seconds)}</td>
                        <td class="r">{format.percent(1)}</td>
                    </tr>
                </tbody>
            </table>
            <p class="note">
                {m.time.band(format.duration(time.low_seconds), format.duration(time.high_seconds))} {time.basis}
            </p>
            <Rates page={page} answer={answer} act={act} />
            <p class="acts">
                <CopyButton label={m.table.copy} text={() => asTable(answer)} />
            </p>
        </div>
    );
}
