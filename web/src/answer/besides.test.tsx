import { expect, test } from 'vitest';
import { format } from '../format/format';
import { nameOf } from '../shared/names';
import { wholePlan } from '../shared/plan-words';
import { answeredOf } from '../shared/test-data';
import { plain, show, textOf } from '../shared/test-view';
import type { Page } from '../store/page';
import { tell } from '../words/words';
import { Besides } from './besides';

test('what is offloaded needs room on the host, which is said beside the answer', () => {
    const { page, answer } = answeredOf('llama-405b-uneven-offload');
    if (!answer.host) throw new Error('an optimizer on the host was expected');
    expect(show(<Besides page={page} answer={answer} />).text()).toMatch(
        new RegExp(`${plain(tell(answer.host.verdict)).replace(/[.()]/g, '.')}$`),
    );
});

test('formats are told where they are not the usual', () => {
    const { page, answer } = answeredOf();
    const said = (given: Page): string =>
        [...show(<Besides page={given} answer={answer} />).box.querySelectorAll('.note')].map(textOf).join();
    expect(said(page)).toBe('');
    const own = { ...page, job: { ...page.job, precision: 'fp8', optimizer: 'sgd' } };
    expect(said(own)).toBe('Precision: fp8, weights in bf16 · Optimizer: SGD');
});

test('a GPU with less memory than its name says is told so; one of the reader’s own is not', () => {
    const { page, answer } = answeredOf();
    const on = (gpu: string, memory_gib: number): string =>
        show(<Besides page={{ ...page, job: { ...page.job, gpu } }} answer={{ ...answer, gpu: { ...answer.gpu, memory_gib } }} />).text();
    expect(on('l40s-48gb', 45)).toContain('Of the 48 GB in the name of this GPU, 45 GB can be used: error correction (ECC)');
    for (const own of ['custom', 'h100-sxm-80gb']) expect(on(own, 80)).not.toContain('ECC');
    const differ = page.catalog.gpus.filter(({ label, memory_gib }) => !label.endsWith(` ${memory_gib} GB`));
    expect(
        differ.map(({ id }) => id),
        'error correction is the reason on each',
    ).toEqual(['l40s-48gb']);
});

test('paper has the parts of the bar by name and the plan; the date and the link stand at its end alone', () => {
    const { page, answer } = answeredOf('llama-70b-64-h100');
    const text = textOf(show(<Besides page={page} answer={answer} />).one('.on-paper'));
    for (const { id, bytes } of answer.groups)
        if (bytes > 0) expect(text).toContain(plain(`${nameOf('group', { id })} ${format.gb(bytes)}`));
    expect(text).toContain(wholePlan(page.catalog, answer.job, answer.data_parallel));
    expect(text).not.toContain(format.date(new Date()));
});
