import { expect, test, vi } from 'vitest';
import { show, spies, tap } from '../shared/test-view';
import type { NoticeId } from '../store/page';
import { Notices } from './notices';

const IDS: readonly NoticeId[] = ['unknown', 'newer', 'widened', 'crash', 'too_large', 'missing', 'update'];

test('every notice has its words, and goes with a tap', () => {
    const act = spies();
    const { all, box } = show(<Notices notices={IDS.map((id) => ({ id, details: 'tp=x' }))} act={act} />);
    expect([...box.querySelectorAll('p')].filter((one) => one.textContent?.startsWith('notice.'))).toEqual([]);
    for (const button of all('button', 'Dismiss')) tap(button);
    expect(act.dismiss.mock.calls.map(([id]) => id)).toEqual(IDS);
});

test('why the calculation stopped is said in words where there are some', () => {
    const crash = (details: string) => show(<Notices notices={[{ id: 'crash', details }]} act={spies()} />).text();
    expect(crash('RuntimeError: x')).toContain('(RuntimeError: x)');
    expect(crash('crash.thread_ended')).not.toContain('crash.');
});

test('nothing to say is still a place where it would be said', () => {
    expect(show(<Notices notices={[]} act={spies()} />).all('status')).toHaveLength(1);
});

test('a newer build is loaded when the reader says so', () => {
    const reload = vi.fn();
    tap(show(<Notices notices={[{ id: 'update', details: '', reload }]} act={spies()} />).find('button', 'Reload'));
    expect(reload).toHaveBeenCalledTimes(1);
});

test('what was probably meant is one link away', () => {
    const { find } = show(<Notices notices={[{ id: 'unknown', details: 'gpu_count', mended: '?gpus=8#best' }]} act={spies()} />);
    expect(find('link', 'Open the corrected link').getAttribute('href')).toBe('?gpus=8#best');
});
