import { expect, test, vi } from 'vitest';
import { pressed, SortHead, type Sorting } from './sort';
import { show, tap } from './test-view';

test('a press sorts upwards, a second one downwards, another column starts anew', () => {
    const start: Sorting<'rank' | 'days'> = { by: 'rank', down: false };
    expect(pressed(start, 'days')).toEqual({ by: 'days', down: false });
    expect(pressed({ by: 'days', down: false }, 'days')).toEqual({ by: 'days', down: true });
    expect(pressed({ by: 'days', down: true }, 'days')).toEqual({ by: 'days', down: false });
    expect(pressed({ by: 'days', down: true }, 'rank')).toEqual(start);
});

test('a head says how its column is sorted, and a press on it what is sorted next', () => {
    const sort = vi.fn();
    const head = (by: string) =>
        show(
            <table>
                <thead>
                    <tr>
                        <SortHead by={by} sorting={{ by: 'days', down: true }} sort={sort}>
                            Days
                        </SortHead>
                    </tr>
                </thead>
            </table>,
        );
    expect(head('days').one('th').getAttribute('aria-sort')).toBe('descending');
    const other = head('cost');
    expect(other.one('th').getAttribute('aria-sort')).toBe('none');
    tap(other.find('button', 'Days'));
    expect(sort).toHaveBeenCalledWith({ by: 'cost', down: false });
});
