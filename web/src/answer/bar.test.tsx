import { expect, test } from 'vitest';
import { format } from '../format/format';
import { answeredOf } from '../shared/test-data';
import { plain, press, show, spies, tap } from '../shared/test-view';
import { Bar } from './bar';

const CardStub = ({ group }: { group: { id: string } }) => <article>{group.id}</article>;

function shown(name: string, open = '') {
    const { page, answer } = answeredOf(name, { depth: 'detail', ...(open && { open: { group: open, item: '', at: 'bar' as const } }) });
    const act = spies();
    return { act, answer, ...show(<Bar page={page} answer={answer} act={act} Card={CardStub} />) };
}

test('the largest part stands above, and every part says its size', () => {
    const { answer, find, names, text } = shown('default');
    const [most] = [...answer.groups].sort((a, b) => b.bytes - a.bytes);
    expect(find('heading').textContent).toContain(format.gb(most?.bytes ?? 0));
    // of the bytes that the headline states
    expect(find('heading').textContent).toContain(`of ${format.gb(answer.whole_bytes)}`);
    for (const { bytes, share } of answer.groups) {
        expect(names('button').some((name) => name.includes(plain(`${format.gb(bytes)} GB, ${format.percent(share)} of the card`)))).toBe(
            true,
        );
    }
    expect(names('group')).toEqual(['Memory of the fullest GPU']);
    expect(text()).toContain('80 GB card');
    expect(text()).toContain('free');
});

test('tap, Enter and blank open a part; once more closes it', () => {
    const closed = shown('default');
    const weights = closed.find('button', /^Weights/);
    tap(weights);
    press(weights, 'Enter');
    press(weights, ' ');
    press(weights, 'x');
    expect(closed.act.open.mock.calls).toEqual(Array.from({ length: 3 }, () => [{ group: 'weights', item: '', at: 'bar' }]));
    const open = shown('default', 'weights');
    expect(open.find('button', /^Weights/).getAttribute('aria-pressed')).toBe('true');
    expect(open.text()).toContain('weights');
    tap(open.find('button', /^Weights/));
    expect(open.act.open).toHaveBeenCalledWith(null);
});

test('an open part leads to every other one, however narrow that is in the bar', () => {
    const { act, all, answer } = shown('default', 'weights');
    const others = all('button').filter((button) => button.closest('.bar-card'));
    expect(others).toHaveLength(answer.groups.length); // without itself, with what lies outside the allocator
    const [first] = others;
    if (first) tap(first);
    expect(act.open).toHaveBeenCalledWith({ group: answer.groups[1]?.id, item: '', at: 'bar' });
});

test('from the card the assumptions are reached by a link, which shows every detail where they are not there yet', () => {
    const { page, answer } = answeredOf('default', { depth: 'plain', open: { group: 'weights', item: '', at: 'bar' } });
    const Card = ({ toAssumptions }: { toAssumptions(): void }) => (
        <button type="button" onClick={toAssumptions}>
            Change
        </button>
    );
    tap(show(<Bar page={page} answer={answer} act={spies()} Card={Card} />).find('button', 'Change'));
    expect(location.hash).toBe('#assumed');
    location.hash = '';
});

test('what does not fit reaches beyond the card', () => {
    const { one, text } = shown('does-not-fit');
    expect(text()).toContain('beyond the card');
    expect(text()).not.toContain('free');
    expect(one('svg.bar').classList).toContain('beyond-card');
});

test('another stage than the fullest is named, without what belongs to the fullest alone', () => {
    const { answer, find, names } = shown('llama-405b-uneven-offload');
    expect(answer.stage).not.toBe(answer.worst_stage);
    expect(find('heading').textContent).toContain(`Stage ${answer.stage + 1}:`);
    expect(names('group')).toEqual([`Memory of stage ${answer.stage + 1}`]);
    expect(names('button').some((name) => name.startsWith('Outside'))).toBe(false);
});

test('beside the size of the card no mark stands where a phone has no room for both', () => {
    const { answer, all } = shown('does-not-fit');
    expect(answer.card_bytes / answer.whole_bytes).toBeLessThan(0.6);
    const at = (mark: Element): number => Number.parseFloat(mark.querySelector('text')?.getAttribute('x') ?? '');
    const [size] = [...document.querySelectorAll('.scale .cardsize')].map((text) => Number.parseFloat(text.getAttribute('x') ?? ''));
    const clear = [...document.querySelectorAll('.scale g:not(.far)')].map((mark) => Math.abs(at(mark) - (size ?? 0)));
    expect(clear.length).toBeGreaterThan(0);
    expect(Math.min(...clear)).toBeGreaterThan(17);
    expect(all('button').length).toBeGreaterThan(0);
});

test('no line strikes through the name of a part: it stands behind the line, where the part goes on for long enough', () => {
    const { page, answer } = answeredOf('does-not-fit');
    const [first, second] = answer.groups;
    if (!first || !second) throw new Error('several parts fill the golden job');
    const at = (start: number) => {
        const groups = [
            { ...first, share: start, bytes: start * answer.card_bytes },
            { ...second, share: 4 - start, bytes: (4 - start) * answer.card_bytes },
        ];
        const { box } = show(
            <Bar page={page} answer={{ ...answer, groups, outside: [], line_share: 0.85 }} act={spies()} Card={CardStub} />,
        );
        const [, part] = box.querySelectorAll('.part');
        const of = (element: Element | null | undefined, name: string): number => Number.parseFloat(element?.getAttribute(name) ?? '');
        const [from, width] = ['x', 'width'].map((name) => of(part?.querySelector('svg'), name)) as [number, number];
        return from + (of(part?.querySelector('.name'), 'x') * width) / 100;
    };
    const card = 100 / (4 * 1.04);
    expect(at(0.7), 'from the card’s end on').toBeCloseTo(card, 1);
    expect(at(0.2), 'far enough from both lines').toBeCloseTo(card * 0.2, 1);
    expect(at(1.2), 'past them').toBeCloseTo(card * 1.2, 1);
});
