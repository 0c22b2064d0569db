import { expect, test } from 'vitest';
import { format } from '../format/format';
import { answeredOf, pageOf } from '../shared/test-data';
import { plain, show } from '../shared/test-view';
import { Brief } from './brief';

test('verdict, memory, a step and the whole run in one line', () => {
    const { page, answer } = answeredOf();
    const used = format.headline(answer.whole_bytes, answer.card_bytes);
    const { run } = answer.time;
    const days = run && format.training(run.days, run.low_days, run.high_days)[0];
    expect(show(<Brief page={page} />).text()).toBe(
        plain(`It fits. ${used} of 80 GB · ${format.duration(answer.time.step_seconds)} a step · ${days}`),
    );
});

test('what cannot work says so, and nothing of the run before', () => {
    expect(show(<Brief page={pageOf('broken-rules')} />).text()).toBe('Cannot work.');
    expect(show(<Brief page={pageOf('default', { answer: null })} />).text()).toBe('');
});
