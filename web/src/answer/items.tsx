import type { FunctionComponent } from 'preact';
import type { Assumption, Estimate, Field, Text } from '../core/api';
import type { ShownGroup, WholeEstimate } from '../core/types';
import { format } from '../format/format';
import { sumOf } from '../format/sums';
import { outsideOf } from '../shared/answer-words';
import { Swatch } from '../shared/chart';
import { CopyButton } from '../shared/copy-button';
import { focusField } from '../shared/field-problems';
import { labelOf, lower, nameOf } from '../shared/names';
import type { Actions, Page } from '../store/page';
import { say, tell } from '../words/words';
import type { CardProps } from './card';
import { HostPart } from './host';

// Tab-separated, as every spreadsheet takes it; exact bytes, for there is room.
const asTable = (answer: Estimate): string => {
    const { bytes, share } = shownTotal(answer);
    const items = (group: ShownGroup) => group.items.map((item) => row(nameOf('item', item), item.bytes, item.share));
    const outside = outsideOf(answer);
    return [
        [titleOf(answer), say('items.gib'), say('items.share'), say('items.bytes')],
        ...answer.groups.flatMap(items),
        row(totalLabel(answer), bytes, share),
        ...(outside ? [...items(outside), row(say('items.whole'), ...wholeOf(answer, outside))] : []),
    ]
        .map((cells) => cells.join('\t'))
        .join('\n');
};
const row = (label: string, bytes: number, share: number): string[] => [label, format.gib(bytes), format.percent(share), bytes.toFixed(0)];

const shownTotal = (answer: Estimate): { bytes: number; share: number } =>
    answer.stages[answer.stage] ?? { bytes: answer.total_bytes, share: answer.share };
const wholeOf = (answer: Estimate, outside: ShownGroup): [bytes: number, share: number] => [
    answer.whole_bytes,
    sumOf([{ bytes: answer.total_bytes, share: answer.share }, outside]).share,
];
// By a method that counts what lies outside the allocator too, the sum of the items is the allocator's alone.
const totalLabel = (answer: Estimate): string =>
    say(answer.outside.length > 0 ? 'items.allocated' : 'items.total', { card: format.nominal(answer.gpu.memory_gib) });
const titleOf = (answer: Estimate): string =>
    answer.stage === answer.worst_stage ? say('items.title') : say('items.title_stage', { stage: answer.stage + 1 });

const partsOf = (group: ShownGroup): string => group.items.map((item) => nameOf('item', item)).join(' · ');

const toAssumptions = () => document.getElementById('assumed')?.scrollIntoView({ block: 'center' });

interface Props {
    page: Page;
    answer: Estimate;
    act: Actions;
    Card: FunctionComponent<CardProps>;
}

function GroupRows({ page, group, act, Card }: Omit<Props, 'answer'> & { group: ShownGroup }) {
    const open = page.open?.group === group.id && !page.open.at ? page.open : null;
    return (
        <>
            <tr class={open ? 'open' : undefined}>
                <th scope="row">
                    <button
                        type="button"
                        class="row"
                        aria-expanded={open !== null}
                        onClick={() => act.open(open ? null : { group: group.id, item: '' })}
                    >
                        <Swatch id={group.id} />
                        <span>
                            {nameOf('group', group)} {group.items.length > 1 && <small>{partsOf(group)}</small>}
                        </span>
                    </button>
                </th>
                <td class="r">{format.gib(group.bytes)}</td>
                <td class="r">{format.percent(group.share)}</td>
                {page.exactBytes && <td class="r">{format.bytes(group.bytes)}</td>}
            </tr>
            {open && (
                <tr class="detail">
                    <td colSpan={page.exactBytes ? 4 : 3}>
                        <Card group={group} open={open} act={act} toAssumptions={toAssumptions} />
                    </td>
                </tr>
            )}
        </>
    );
}

function TotalRow({ page, label, bytes, share }: { page: Page; label: string; bytes: number; share: number }) {
    return (
        <tr>
            <th scope="row">{label}</th>
            <td class="r">{format.gib(bytes)}</td>
            <td class="r">{format.percent(share)}</td>
            {page.exactBytes && <td class="r">{format.bytes(bytes)}</td>}
        </tr>
    );
}

export function Items({ page, answer, act, Card }: Props) {
    const outside = outsideOf(answer);
    const [wholeBytes, wholeShare] = outside ? wholeOf(answer, outside) : [0, 0];
    return (
        <section class="items" aria-label={titleOf(answer)}>
            <table>
                <thead>
                    <tr>
                        <th scope="col">{titleOf(answer)}</th>
                        <th scope="col" class="r">
                            {say('items.gib')}
                        </th>
                        <th scope="col" class="r">
                            {say('items.share')}
                        </th>
                        {page.exactBytes && (
                            <th scope="col" class="r">
                                {say('items.bytes')}
                            </th>
                        )}
                    </tr>
                </thead>
                <tbody>
                    {answer.groups.map((group) => (
                        <GroupRows key={group.id} page={page} group={group} act={act} Card={Card} />
                    ))}
                </tbody>
                <tbody class="total">
                    <TotalRow page={page} label={totalLabel(answer)} {...shownTotal(answer)} />
                </tbody>
                {outside && (
                    <>
                        <tbody>
                            <GroupRows page={page} group={outside} act={act} Card={Card} />
                        </tbody>
                        <tbody class="total">
                            <TotalRow page={page} label={say('items.whole')} bytes={wholeBytes} share={wholeShare} />
                        </tbody>
                    </>
                )}
            </table>
            <p class="acts">
                <button type="button" aria-pressed={page.exactBytes} onClick={() => act.showBytes(!page.exactBytes)}>
                    {say('items.show_bytes')}
                </button>
                <CopyButton label={say('copy.table')} text={() => asTable(answer)} />
            </p>
            {answer.host && <HostPart host={answer.host} act={act} Card={Card} />}
            <p class="note">{say('items.footnote')}</p>
        </section>
    );
}

// A note that is assumed may name the field that changes it.
interface NoteListProps {
    id: string;
    title: string;
    notes: (Assumption | { text: Text; field?: string })[];
    fields: readonly Field[];
}
function NoteList({ id, title, notes, fields }: NoteListProps) {
    if (notes.length === 0) return null;
    return (
        <div id={id}>
            <h2>{title}</h2>
            <ul>
                {notes.map(({ text, field }) => (
                    <li key={text.id}>
                        {tell(text)}{' '}
                        {field && (
                            <button
                                type="button"
                                class="link"
                                aria-label={say('problems.go_to', { label: lower(labelOf(fields, field)) })}
                                onClick={() => focusField(field)}
                            >
                                {say('notes.change')}
                            </button>
                        )}
                    </li>
                ))}
            </ul>
        </div>
    );
}

const alone = (text: Text) => ({ text });

export function Notes({ answer, fields }: { answer: WholeEstimate; fields: readonly Field[] }) {
    return (
        <section class="notes">
            <NoteList id="used" title={say('notes.used')} notes={answer.used.map(alone)} fields={fields} />
            <NoteList id="assumed" title={say('notes.assumed')} notes={answer.assumed} fields={fields} />
            <NoteList id="not-counted" title={say('notes.not_counted')} notes={answer.not_counted.map(alone)} fields={fields} />
        </section>
    );
}
