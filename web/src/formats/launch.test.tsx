import { expect, test, vi } from 'vitest';
import { answeredOf, goodOf, refusalOf } from '../shared/test-data';
import { show, tap } from '../shared/test-view';
import { Launch } from './launch';

const { page, answer } = answeredOf('llama-70b-64-h100');
const estimate = () => new Promise<never>(() => {});

test('the plan shown is asked for, and its script opens', async () => {
    const exportPlan = vi.fn(async () => goodOf('export_plan', 'export-70b'));
    const { all, find } = show(<Launch page={page} answer={answer} asks={{ exportPlan, estimate }} />);
    const button = find('button', 'Launch flags');
    tap(button);
    await expect.poll(() => (all('dialog')[0] as HTMLDialogElement | undefined)?.open).toBe(true);
    expect(exportPlan).toHaveBeenCalledWith(answer.job);
    expect(find('heading', 'Launch flags for Megatron-LM')).toBeTruthy();
    tap(find('button', 'Close'));
    expect(all('dialog')).toEqual([]);
    expect(document.activeElement).toBe(button);
});

test('adapters are asked for where there is a key for them', async () => {
    const exportPlan = vi.fn(async () => goodOf('export_plan', 'export-70b'));
    const job = { ...answer.job, trained: 'lora' as const };
    const { all, find } = show(<Launch page={page} answer={{ ...answer, job }} asks={{ exportPlan, estimate }} />);
    tap(find('button', 'Launch flags'));
    await expect.poll(() => all('dialog').length).toBe(1);
    expect(exportPlan).toHaveBeenCalledWith({ ...job, format: 'megatron-bridge' });
});

test('a refusal opens nothing and is said', async () => {
    const refused = { ...refusalOf('bad-request'), job: null };
    const { all, find } = show(<Launch page={page} answer={answer} asks={{ exportPlan: async () => refused, estimate }} />);
    tap(find('button', 'Launch flags'));
    await expect.poll(() => all('alert').length).toBe(1);
    expect(find('alert').textContent).toBeTruthy();
    expect(all('dialog')).toEqual([]);
});
