import { expect, test } from 'vitest';
import { answeredOf, goodOf } from '../shared/test-data';
import { settle, show } from '../shared/test-view';
import { SendLater } from './send-door';

test('it comes where the page knows a repository', { timeout: 20_000 }, async () => {
    const { page, answer } = answeredOf();
    const { rows } = goodOf('calibrate', 'calibrate');
    const without = show(<SendLater page={page} answer={answer} rows={rows} lines="" />);
    await settle();
    expect(without.text()).toBe('');
    const meta = document.createElement('meta');
    meta.name = 'repository';
    meta.content = 'https://git.example/group/project';
    document.head.append(meta);
    const { text } = show(<SendLater page={page} answer={answer} rows={rows} lines="" />);
    await expect.poll(text, { timeout: 15_000 }).toContain('Send us your run');
    meta.remove();
});
