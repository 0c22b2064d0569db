import type { Estimate, Group, Note } from '../api';
import { format } from '../format';
import { t } from '../i18n';
import type { Actions, Page } from '../store';
import { Swatch } from './bar';
import { Card } from './card';
import { CopyButton } from './copy-button';
import { focusField } from './problems';

// Tab-separated, as every spreadsheet takes it; exact bytes, for there is room.
const asTable = (answer: Estimate): string =>
    [
        [t.items.title, t.items.gib, t.items.share, t.items.bytes],
        ...answer.groups.flatMap((group) => group.items.map((item) => row(item.label, item.bytes, item.share))),
        row(t.items.total(format.nominal(answer.gpu.memory_gib)), answer.total_bytes, answer.share),
    ]
        .map((cells) => cells.join('\t'))
        .join('\n');
const row = (label: string, bytes: number, share: number): string[] => [label, format.gib(bytes), format.percent(share), String(bytes)];

const partsOf = (group: Group): string => group.items.map((item) => item.label.toLowerCase()).join(', ');

const toAssumptions = () => document.getElementById('assumed')?.scrollIntoView({ block: 'center' });

function GroupRows({ page, group, act }: { page: Page; group: Group; act: Actions }) {
    const open = page.open?.group === group.id ? page.open : null;
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
                            {group.label} {group.items.length > 1 && <small>{partsOf(group)}</small>}
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

export function Items({ page, answer, act }: { page: Page; answer: Estimate; act: Actions }) {
    return (
        <section class="items" aria-label={t.items.title}>
            <table>
                <thead>
                    <tr>
                        <th scope="col">{t.items.title}</th>
                        <th scope="col" class="r">
                            {t.items.gib}
                        </th>
                        <th scope="col" class="r">
                            {t.items.share}
                        </th>
                        {page.exactBytes && (
                            <th scope="col" class="r">
                                {t.items.bytes}
                            </th>
                        )}
                    </tr>
                </thead>
                <tbody>
                    {answer.groups.map((group) => (
                        <GroupRows key={group.id} page={page} group={group} act={act} />
                    ))}
                </tbody>
                <tfoot>
                    <tr>
                        <th scope="row">{t.items.total(format.nominal(answer.gpu.memory_gib))}</th>
                        <td class="r">{format.gib(answer.total_bytes)}</td>
                        <td class="r">{format.percent(answer.share)}</td>
                        {page.exactBytes && <td class="r">{format.bytes(answer.total_bytes)}</td>}
                    </tr>
                </tfoot>
            </table>
            <p class="acts">
                <button type="button" aria-pressed={page.exactBytes} onClick={() => act.showBytes(!page.exactBytes)}>
                    {t.items.showBytes}
                </button>
                <CopyButton label={t.items.copy} text={() => asTable(answer)} />
            </p>
            <p class="note">{t.items.footnote}</p>
        </section>
    );
}

function NoteList({ id, title, notes }: { id: string; title: string; notes: Note[] }) {
    if (notes.length === 0) return null;
    return (
        <div id={id}>
            <h2>{title}</h2>
            <ul>
                {notes.map((note) => (
                    <li key={note.id}>
                        {note.text}{' '}
                        {note.field && (
                            <button type="button" class="link" onClick={() => focusField(note.field ?? '')}>
                                {t.notes.change}
                            </button>
                        )}
                    </li>
                ))}
            </ul>
        </div>
    );
}

export function Notes({ answer }: { answer: Estimate }) {
    return (
        <section class="notes">
            <NoteList id="used" title={t.notes.used} notes={answer.used} />
            <NoteList id="assumed" title={t.notes.assumed} notes={answer.assumed} />
            <NoteList id="not-counted" title={t.notes.not_counted} notes={answer.not_counted} />
        </section>
    );
}
