// The head of a column by which the reader may sort a table.
import './sort.css';
import type { ComponentChildren } from 'preact';
import { say } from '../words/words';

export interface Sorting<Key extends string> {
    by: Key;
    down: boolean;
}

// A column's second press turns it round.
export const pressed = <Key extends string>(now: Sorting<Key>, by: Key): Sorting<Key> => ({ by, down: now.by === by && !now.down });

interface Props<Key extends string> {
    by: Key;
    sorting: Sorting<Key>;
    sort(next: Sorting<Key>): void;
    kind?: string; // class of the column
    name?: string | undefined; // where the label is short
    sign?: boolean; // the label is a sign, no word
    children: ComponentChildren;
}

export function SortHead<Key extends string>({ by, sorting, sort, kind = 'r', name, sign = false, children }: Props<Key>) {
    const direction = sorting.by !== by ? 'none' : sorting.down ? 'descending' : 'ascending';
    return (
        <th scope="col" class={`sorts ${kind}`} aria-label={name} aria-sort={direction}>
            <button
                type="button"
                class="link"
                aria-label={sign ? name : undefined}
                title={say('table.sort')}
                onClick={() => sort(pressed(sorting, by))}
            >
                {children}
                {direction !== 'none' && <span aria-hidden="true">{sorting.down ? '▾' : '▴'}</span>}
            </button>
        </th>
    );
}
