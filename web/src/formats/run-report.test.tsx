import { expect, test, vi } from 'vitest';
import { goodOf, pageOf } from '../shared/test-data';
import { show, tap } from '../shared/test-view';
import { fetchWords } from '../words/words';
import { RunReport } from './run-report';

const died = goodOf('read_run', 'run-died');
const steps = goodOf('read_run', 'run-steps');

test('a run that died: why, its numbers with their lines, and no measured run of it', async () => {
    await fetchWords('run');
    const { text, all } = show(<RunReport run={died} against={pageOf()} measure={vi.fn()} />);
    expect(text()).toContain('Why the run died');
    expect(text()).toContain('Compared with the run that this page shows: Llama 3.1 8B on 8');
    expect(text()).toContain('this plan was bound to fail');
    expect(text()).toContain('What to change first: ');
    expect(text()).toContain('72.50 GiB');
    expect(all('row')).toHaveLength(died.numbers.length + 1);
    expect(text()).not.toContain('Use as measured runs');
});

test('a run on other GPUs than the plan’s, and a change that is not enough', async () => {
    await fetchWords('run');
    const alternatives = goodOf('alternatives', 'alternatives-70b');
    const changes = alternatives.changes.map((one) => ({ ...one, class: 'at_risk' as const }));
    const against = pageOf('default', { alternatives: { ...alternatives, changes } });
    const run = { ...died, runs_text: 'tensor_parallel,gpus,step_seconds\n4,64,2\n' };
    const { text } = show(<RunReport run={run} against={against} measure={vi.fn()} />);
    expect(text()).toContain('The log is from 64 GPUs, the plan here has 8.');
    expect(text()).toMatch(/It saves [^.]*\.\d+ GB\.\s*Even then it may run out of memory/);
    for (const runs_text of ['tensor_parallel,gpus\n4,8\n', 'tensor_parallel,gpus\n4,\n', 'step_seconds\n2\n', '']) {
        const same = show(<RunReport run={{ ...died, runs_text }} against={pageOf()} measure={vi.fn()} />);
        expect(same.text()).not.toContain('The log is from');
        expect(same.text()).not.toContain('Even then');
    }
});

test('a run that went on: its steps, what was left out, and the runs for the calibration', async () => {
    await fetchWords('run');
    const measure = vi.fn();
    const { text, find } = show(<RunReport run={steps} against={null} measure={measure} />);
    expect(text()).toContain('median of 2 lines');
    expect(text()).not.toContain('Compared with');
    expect(text()).toContain('left out');
    tap(find('button', 'Use as measured runs'));
    expect(measure).toHaveBeenCalledWith(steps.runs_text);
});
