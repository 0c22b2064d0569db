import { expect, test, vi } from 'vitest';
import { measuredOf, refusalOf } from '../shared/test-data';
import { choose, later, show, tap, unfold, write } from '../shared/test-view';
import { EMPTY, Formats, Input, Reading, type Source, useReading } from './measure';

function shown(source: Source = EMPTY) {
    const set = vi.fn();
    return { set, ...show(<Input source={source} set={set} invalid={false} />) };
}

test('a measurement is typed, filled in as an example, or removed', () => {
    const { find, set } = shown();
    write(find('textbox', 'Paste or drop a measurement'), 'a,b');
    expect(set).toHaveBeenLastCalledWith({ ...EMPTY, text: 'a,b' });
    tap(find('button', 'Fill in an example'));
    expect(set).toHaveBeenLastCalledWith(expect.objectContaining({ example: true, text: expect.stringContaining('node-8') }));
    const typed = shown({ ...EMPTY, text: 'a' });
    tap(typed.find('button', 'Remove it'));
    expect(typed.set).toHaveBeenCalledWith(EMPTY);
});

test('what the text leaves open can be said', () => {
    const { find, set } = shown();
    choose(find('combobox', 'Unit of the numbers'), 'gbit_per_s');
    choose(find('combobox', 'Rows and columns are'), 'gpus');
    expect(set.mock.calls.map(([{ said }]) => said)).toEqual([
        { unit: 'gbit_per_s', units: 'auto' },
        { unit: 'auto', units: 'gpus' },
    ]);
});

test('a text that is too long is held, not shown', () => {
    const { all, text } = shown({ ...EMPTY, text: 'x'.repeat(3_000_000), file: 'links.txt' });
    expect(all('textbox')).toEqual([]);
    expect(text()).toContain('links.txt, 3.0 MB: too long to show here');
});

test('what was read, why nothing could be, and that it failed', () => {
    const told = (read: Parameters<typeof Reading>[0]['read'], reading = false) =>
        show(<Reading read={read} reading={reading} source={{ ...EMPTY, text: 'x' }} />).text();
    expect(told(measuredOf())).toMatch(/^Read as “Fourfold’s JSON”: 12 nodes, numbers in GB\/s/);
    expect(told(refusalOf('place-bad'))).toMatch(/cannot be read yet/);
    expect(told('crashed')).toMatch(/^Reading this failed/);
    expect(told(null, true)).toBe('Reading…');
});

test('every format says how to measure', () => {
    const { box } = show(<Formats />);
    expect(unfold(box, /^Which formats/).querySelectorAll('dt')).toHaveLength(5);
});

test('only the newest text is read, once it rests', async () => {
    vi.useFakeTimers();
    const measured = measuredOf();
    const measure = vi.fn(async () => measured);
    function Probe({ source }: { source: Source }) {
        const { read, reading } = useReading(source, measure);
        return <p>{`${reading} ${read && read !== 'crashed' && read.ok && 'names' in read ? read.names.length : read}`}</p>;
    }
    const { again, text } = show(<Probe source={{ ...EMPTY, text: 'a' }} />);
    again(<Probe source={{ ...EMPTY, text: 'ab' }} />);
    expect(text()).toBe('true null');
    await later(1000);
    expect(text()).toBe('false 12');
    expect(measure).toHaveBeenCalledTimes(1);
    expect(measure).toHaveBeenCalledWith('ab', EMPTY.said);
    again(<Probe source={EMPTY} />);
    await later(1);
    expect(text()).toBe('false null');
});
