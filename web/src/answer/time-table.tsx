import { useState } from 'preact/hooks';
import type { Estimate, TimeItem, TimeKind } from '../core/api';
import { format } from '../format/format';
import { rateOf } from '../shared/answer-words';
import { TimeFill } from '../shared/chart';
import { CopyButton } from '../shared/copy-button';
import { aboutOf, helpOf, nameOf } from '../shared/names';
import type { Actions, Page } from '../store/page';
import { say, sentences, tell } from '../words/words';
import { Explanation } from './card';

const asTable = ({ time }: Estimate): string =>
    [
        [say('step.label'), say('time_table.seconds'), say('time_table.share')],
        ...time.items.map((item) => [nameOf('time', item), format.number(item.seconds), format.percent(item.share)]),
        [say('time_table.total'), format.number(time.step_seconds), format.percent(1)],
    ]
        .map((cells) => cells.join('\t'))
        .join('\n');

function Row({ item, open, toggle, act }: { item: TimeItem; open: boolean; toggle(): void; act: Actions }) {
    return (
        <>
            <tr class={open ? 'open' : undefined}>
                <th scope="row">
                    <button type="button" class="row" aria-expanded={open} onClick={toggle}>
                        <svg class="swatch" width="14" height="14" aria-hidden="true">
                            <TimeFill kind={item.kind} />
                        </svg>
                        <span>
                            {nameOf('time', item)} <small>{aboutOf('time', item)}</small>
                        </span>
                    </button>
                </th>
                <td class="r">{format.duration(item.seconds)}</td>
                <td class="r">{format.percent(item.share)}</td>
            </tr>
            {open && (
                <tr class="detail">
                    <td colSpan={3}>
                        <article class={`item-card t-${item.kind}`} aria-label={nameOf('time', item)}>
                            <Explanation
                                item={item}
                                explain={act.explain}
                                title={nameOf('time', item)}
                                summary={aboutOf('time', item)}
                                result={format.duration(item.seconds)}
                                latexResult={`${item.seconds}\\ \\text{s}`}
                                write={format.measured}
                            >
                                <button type="button" onClick={toggle}>
                                    {say('card.close')}
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
    const chosen = rateOf(answer, page);
    const convention = say('time_table.convention', {
        label: nameOf('rate', chosen),
        mfu: chosen.mfu,
        peak: format.count(time.peak_tflop_per_s),
        format: time.peak_format,
        rate: format.rounded(chosen.tflop_per_s_per_gpu),
    });
    return (
        <>
            <fieldset class="filters switch">
                <legend>{say('time_table.count')}</legend>
                {time.rates.map((rate) => (
                    <button key={rate.id} type="button" aria-pressed={rate.id === chosen.id} onClick={() => act.showRate(rate.id)}>
                        {nameOf('rate', rate)}
                    </button>
                ))}
            </fieldset>
            <p class="note" aria-live="polite">
                {sentences(convention, helpOf('rate', chosen))}
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
                        <th scope="col">{say('step.label')}</th>
                        <th scope="col" class="r">
                            {say('time_table.time')}
                        </th>
                        <th scope="col" class="r">
                            {say('time_table.share')}
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
                            act={act}
                        />
                    ))}
                </tbody>
                <tbody class="total">
                    <tr>
                        <th scope="row">{say('time_table.total')}</th>
                        <td class="r">{format.duration(time.step_seconds)}</td>
                        <td class="r">{format.percent(1)}</td>
                    </tr>
                </tbody>
            </table>
            <p class="note">{sentences(say('time_table.band', { low: time.low_seconds, high: time.high_seconds }), tell(time.basis))}</p>
            <Rates page={page} answer={answer} act={act} />
            <p class="acts">
                <CopyButton label={say('copy.table')} text={() => asTable(answer)} />
            </p>
        </div>
    );
}
