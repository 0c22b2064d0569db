import { expect, test } from 'vitest';
import { answeredOf } from '../shared/test-data';
import { plain, show } from '../shared/test-view';
import { tell } from '../words/words';
import { Besides } from './besides';

test('what is offloaded needs room on the host, which is said beside the answer', () => {
    const { answer } = answeredOf('llama-405b-uneven-offload');
    if (!answer.host) throw new Error('an optimizer on the host was expected');
    expect(show(<Besides answer={answer} />).text()).toBe(plain(tell(answer.host.verdict)));
    expect(show(<Besides answer={answeredOf().answer} />).text()).toBe('');
});
