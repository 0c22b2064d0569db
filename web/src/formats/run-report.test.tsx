import { expect, test, vi } from 'vitest';
import { goodOf, pageOf } from '../shared/test-data';
import { show, tap } from '../shared/test-view';
import { fetchWords } from '../words/words';
import { RunReport as Report } from './run-report';

const died = goodOf('read_run', 'run-died');
const steps = goodOf('read_run', 'run-steps');
const cards = goodOf('read_run', 'run-cards');

type Given = Parameters<typeof Report>[0];
const RunReport = (given: Pick<Given, 'run' | 'against' | 'measure'> & Partial<Given>) => (
    <Report page={given.against ?? pageOf()} useCards={vi.fn()} {...given} />
);

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

test('whether a change is enough is asked of the whole GPU, by what the log shows', async () => {
    await fetchWords('run');
    const alternatives = goodOf('alternatives', 'alternatives-70b');
    const [one] = alternatives.changes;
    if (!one) throw new Error('the golden job has changes');
    const at = (id: string, whole: number) => ({
        ...one,
        label: { id },
        class: 'fits' as const,
        share: 0.6,
        total_bytes: 60,
        whole_bytes: whole,
    });
    const changes = [at('change.fused_norms', 85), at('change.moments_16_bit', 65)]; // of 100 bytes, with a tenth more than counted
    const verdict = [...died.verdict, { id: 'read_run.verdict.counted_less', args: { needed: 1, share: 0.1 } }];
    const { text } = show(
        <RunReport
            run={{ ...died, verdict }}
            against={pageOf('default', { alternatives: { ...alternatives, changes } })}
            measure={vi.fn()}
        />,
    );
    expect(text()).toContain('What to change first: Adam’s averages in 16 bits');
});

test('a run that went on: its steps, what was left out, and the runs for the calibration', async () => {
    await fetchWords('run');
    const measure = vi.fn();
    const { text, find } = show(<RunReport run={steps} against={null} measure={measure} />);
    expect(text()).toContain('median of 2 lines');
    const one = { ...steps, series: steps.series.map((series) => ({ ...series, count: 1 })) };
    expect(show(<RunReport run={one} against={null} measure={measure} />).text(), 'no range').toMatch(/ s \(one line\)/);
    expect(text()).not.toContain('Compared with the run');
    expect(text()).toContain('left out');
    tap(find('button', 'Use as measured runs'));
    expect(measure).toHaveBeenCalledWith(steps.runs_text);
});

test('nvidia-smi: the cards in words; where the run here has others, that is said and they are offered', async () => {
    await fetchWords('run');
    const useCards = vi.fn();
    const shown = (job: object, run = cards) => {
        const page = pageOf('default');
        const against = { ...page, job: { ...page.job, ...job } };
        return show(<RunReport run={run} against={against} measure={vi.fn()} useCards={useCards} />);
    };
    const other = shown({});
    expect(other.text()).toContain('nvidia-smi shows 2 × A100 SXM 40 GB: these are not the GPUs of the run here.');
    expect(other.text()).toContain('On the fullest GPU, 37.3 GB of 40.0 GB are in use.');
    tap(other.find('button', 'Use 2 × A100 SXM 40 GB'));
    expect(useCards).toHaveBeenCalledWith({ gpu: 'a100-sxm-40gb', gpus: 2 });
    const a100 = (gpus: number) => ({ gpu: 'a100-sxm-40gb', gpus });
    expect(shown(a100(4)).all('button', 'Use 2 × A100 SXM 40 GB')).toHaveLength(1);
    // the same cards, and one node of several
    for (const same of [shown(a100(2)), shown(a100(32), { ...cards, gpus: 8 })]) {
        expect(same.text()).not.toContain('not the GPUs');
        expect(same.all('button', /^Use/)).toEqual([]);
    }
    // a card that the catalogue lacks, several kinds of them, and a number that is not said
    expect(shown({}, { ...cards, gpu: null, cards: ['NVIDIA L4'] }).text()).toContain('nvidia-smi shows 2 × NVIDIA L4.');
    expect(shown({}, { ...cards, gpu: null, cards: ['NVIDIA L4', 'NVIDIA H200'] }).text()).toContain('shows NVIDIA L4, NVIDIA H200.');
    expect(shown({}, { ...cards, gpus: null }).all('button', 'Use A100 SXM 40 GB')).toHaveLength(1);
});

test('without a run to compare with, the log is told by what it holds, and the run is asked for', async () => {
    await fetchWords('run');
    const { text } = show(<RunReport run={{ ...died, cards: [], verdict: died.verdict.slice(0, 1) }} against={null} measure={vi.fn()} />);
    expect(text()).toContain('Compared with no run: the page does not know yours yet. Set its model');
    const beside = show(<RunReport run={{ ...died, verdict: [] }} against={null} asks measure={vi.fn()} />); // a script that leaves some of it open
    expect(beside.text()).toContain('Answer what is asked below, and it is compared.');
    expect(show(<RunReport run={cards} against={null} measure={vi.fn()} />).text()).toContain('shows 2 × A100 SXM 40 GB. ');
});
