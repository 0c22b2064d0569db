import { expect, test } from 'vitest';
import { answeredOf } from '../shared/test-data';
import { plain, show } from '../shared/test-view';
import { tell } from '../words/words';
import { Besides } from './besides';

test('what is offloaded needs room on the host, which is said beside the answer', () => {
    const { page, answer } = answeredOf('llama-405b-uneven-offload');
    if (!answer.host) throw new Error('an optimizer on the host was expected');
    expect(show(<Besides page={page} answer={answer} />).text()).toBe(plain(tell(answer.host.verdict)));
});

test('formats are told where they are not the usual', () => {
    const { page, answer } = answeredOf();
    expect(show(<Besides page={page} answer={answer} />).text()).toBe('');
    const own = { ...page, job: { ...page.job, precision: 'fp8', optimizer: 'sgd' } };
    expect(show(<Besides page={own} answer={answer} />).text()).toBe('Precision: fp8, weights in bf16 · Optimizer: SGD');
});
