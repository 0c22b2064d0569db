import { expect, test } from 'vitest';
import { format } from '../format/format';
import { kindsOf } from '../format/sums';
import { answeredOf } from '../shared/test-data';
import { plain, press, show, spies, tap } from '../shared/test-view';
import { TimeBar } from './time-bar';
import type { TimeTableProps } from './time-table';

const Table = ({ chosen }: TimeTableProps) => <p class="chosen">{chosen ?? '-'}</p>;

function shown() {
    const { page, answer } = answeredOf('llama-405b-512-h100');
    return { answer, ...show(<TimeBar page={page} answer={answer} act={spies()} Table={Table} />) };
}

test('what takes most of a step stands above, and every part says its time', () => {
    const { answer, find, names } = shown();
    const kinds = kindsOf(answer.time.items);
    const [most] = [...kinds].sort((a, b) => b.seconds - a.seconds);
    expect(plain(find('heading').textContent ?? '')).toBe(plain(`Computing takes ${format.percent(most?.share ?? 0)} of a step`));
    expect(names('group')).toEqual(['Time of a step']);
    expect(names('button').map((name) => name.replace(/^[^:]*: ([^,]*), .*/, '$1'))).toEqual(
        kinds.map(({ seconds }) => plain(format.duration(seconds))),
    );
});

test('a part that is chosen is told to the table; once more lets it go', () => {
    const { find, one } = shown();
    expect(one('.chosen').textContent).toBe('-');
    tap(find('button', /^Waiting/));
    expect(one('.chosen').textContent).toBe('bubble');
    expect(find('button', /^Waiting/).getAttribute('aria-pressed')).toBe('true');
    press(find('button', /^Computing/), 'Enter');
    expect(one('.chosen').textContent).toBe('compute');
    press(find('button', /^Computing/), ' ');
    expect(one('.chosen').textContent).toBe('-');
});

test('a time too long for half a part is marked', () => {
    const { page, answer } = answeredOf('llama-405b-512-h100');
    const timed = (times: number) => {
        const items = answer.time.items.map((one) => ({ ...one, seconds: one.seconds * times }));
        const view = show(<TimeBar page={page} answer={{ ...answer, time: { ...answer.time, items } }} act={spies()} Table={Table} />);
        return view.all('button').map((part) => [plain(part.querySelector('.size')?.textContent ?? ''), part.classList.contains('long')]);
    };
    for (const times of [0.1, 1, 100]) {
        for (const [time, long] of timed(times)) expect(long, String(time)).toBe(/ min |\.\d min$/.test(String(time)));
    }
});
