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

test('paper has the parts of the bar by name and the plan; the date and the link stand at its end alone', () => {
    const { page, answer } = answeredOf('llama-70b-64-h100');
    const text = textOf(show(<Besides page={page} answer={answer} />).one('.on-paper'));
    for (const { id, bytes } of answer.groups)
        if (bytes > 0) expect(text).toContain(plain(`${nameOf('group', { id })} ${format.gb(bytes)}`));
    expect(text).toContain(wholePlan(page.catalog, answer.job, answer.data_parallel));
    expect(text).not.toContain(format.date(new Date()));
});
