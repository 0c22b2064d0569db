import { afterEach, expect, test, vi } from 'vitest';
import { answeredOf, goodOf, refusalOf } from '../shared/test-data';
import { show, tap, write } from '../shared/test-view';
import { formatPools, parsePools } from './link';
import { PoolsView } from './view';

const { page } = answeredOf();
afterEach(() => history.replaceState(null, '', '?'));

test('further GPUs are added, changed, calculated, and kept in the link', async () => {
    const mixer = { pools: vi.fn(async () => goodOf('pools', 'pools-70b')), stop: vi.fn() };
    const { all, find, text } = show(<PoolsView page={page} mixer={mixer} />);
    tap(find('button', 'Add a kind of GPU'));
    write(find('textbox', 'Further pool 2: number of GPUs'), '32');
    expect(new URLSearchParams(location.search).get('pools')).toMatch(/_32$/);
    tap(find('button', 'Remove further pool 1'));
    tap(find('button', 'Calculate together'));
    await vi.waitFor(() => expect(all('table')).toHaveLength(2));
    expect(mixer.pools).toHaveBeenLastCalledWith(expect.objectContaining({ more_pools: [expect.objectContaining({ gpus: 32 })] }));
    expect(text()).toContain('together take');
});

test('what is wrong is named, and the calculation can be stopped', async () => {
    const mixer = { pools: vi.fn(async () => refusalOf('pools-bad')), stop: vi.fn() };
    const { find, text } = show(<PoolsView page={page} mixer={mixer} />);
    tap(find('button', 'Calculate together'));
    await vi.waitFor(() => expect(text()).toContain('Further pool 1: number of GPUs'));
    const field = find('textbox', 'Further pool 1: number of GPUs');
    expect(field.getAttribute('aria-invalid')).toBe('true');
    expect(document.getElementById(field.getAttribute('aria-describedby') ?? '')?.textContent).toContain('0 is too small');
    mixer.pools.mockImplementation(() => new Promise<never>(() => {}));
    tap(find('button', 'Calculate together'));
    tap(find('button', 'Stop'));
    expect(mixer.stop).toHaveBeenCalledTimes(1);
    mixer.pools.mockImplementation(() => Promise.reject(new Error('gone')));
    tap(find('button', 'Calculate together'));
    await vi.waitFor(() => expect(text()).toContain('Press the button again.'));
});

test('a link holds the further pools', () => {
    const pools = parsePools('h100-sxm-80gb_32,mine_many');
    expect(pools).toEqual([
        { gpu: 'h100-sxm-80gb', gpus: 32 },
        { gpu: 'mine', gpus: 'many' },
    ]);
    expect(formatPools(pools)).toBe('h100-sxm-80gb_32,mine_many');
    expect(parsePools(null)).toEqual([]);
});
