import { expect, test, vi } from 'vitest';
import { goodOf, refusalOf } from '../shared/test-data';
import { show, tap, textOf, unfold } from '../shared/test-view';
import { Files, JobScript } from './files';

const { files } = goodOf('place', 'place-step-time');

test('every launcher has its file, how to use it, and two ways to take it', async () => {
    const copied = vi.spyOn(navigator.clipboard, 'writeText').mockResolvedValue();
    const { all, box, find } = show(<Files files={files} />);
    expect(files.length).toBeGreaterThan(0);
    expect([...box.querySelectorAll('summary')].map(textOf)[0]).toBe(`Slurm: ${files[0]?.name}`);
    for (const { name } of files) {
        expect(find<HTMLAnchorElement>('link', `Download ${name}`).download).toBe(name);
        tap(find('button', `Copy ${name}`));
    }
    await vi.waitFor(() => expect(copied.mock.calls.slice(-files.length).map(([text]) => text)).toEqual(files.map(({ text }) => text)));
    expect(all('link').every((one) => (one as HTMLAnchorElement).href.startsWith('blob:'))).toBe(true);
});

test('a launcher that the page does not know has its file’s name alone', () => {
    const unknown = { ...files[0], id: 'new', name: 'new.txt' } as unknown as (typeof files)[0];
    expect(textOf(show(<Files files={[unknown]} />).one('summary'))).toBe('new.txt');
});

test('the run on these nodes is saved as a job, with what is the reader’s to fill in and what it lacks', async () => {
    const script = goodOf('export_plan', 'export-slurm');
    const exportPlan = vi.fn(async () => script);
    const saved: string[] = [];
    const click = vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (this: HTMLAnchorElement) {
        saved.push(this.download);
    });
    const { all, box, find } = show(<JobScript job={{ gpus: 16 }} hosts={['b', 'a']} exportPlan={exportPlan} />);
    tap(find('button', 'Download the run as a Slurm job on these nodes (Megatron-LM)'));
    await expect.poll(() => saved).toEqual(['fourfold-job.sh']);
    await vi.waitFor(() => expect(find('status').textContent).toContain('DATA_ARGS'));
    expect(exportPlan).toHaveBeenCalledWith({ gpus: 16, format: 'megatron-lm-slurm', hosts: ['b', 'a'] });
    unfold(box, 'Not in the file');
    expect(all('listitem')).toHaveLength(script.left_out.length);
    click.mockRestore();
});

test('a job that cannot be written is said', async () => {
    const exportPlan = async () => ({ ...refusalOf('bad-request'), job: null });
    const { all, find } = show(<JobScript job={{ gpus: 16 }} hosts={['b', 'a']} exportPlan={exportPlan} />);
    tap(find('button'));
    await expect.poll(() => all('alert').length).toBe(1);
});
