import { expect, test, vi } from 'vitest';
import { goodOf, pageOf } from '../shared/test-data';
import { settle, show } from '../shared/test-view';
import { RunFound } from './run-door';

const steps = goodOf('read_run', 'run-steps');

test('the report comes when it is needed', async () => {
    const { text } = show(<RunFound run={steps} page={pageOf()} against={null} measure={vi.fn()} useCards={vi.fn()} />);
    await settle();
    await vi.waitFor(() => expect(text()).toContain('What the run printed'));
});
