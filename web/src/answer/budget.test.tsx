import { expect, test } from 'vitest';
import { format } from '../format/format';
import { answeredOf, goodOf } from '../shared/test-data';
import { plain, show, spies, write } from '../shared/test-view';
import { Budget } from './budget';

test('every amount has a field that says what it wants', () => {
    const { page } = answeredOf();
    const act = spies();
    const { find, names, text } = show(<Budget page={page} act={act} />);
    expect(names('textbox')).toEqual(['Tokens to train on', 'Price per GPU and hour', 'Power per GPU']);
    expect(text()).toContain('Enter how many tokens to train on');
    write(find('textbox', 'Tokens to train on'), '1e12');
    write(find('textbox', 'Price per GPU and hour'), '2,5');
    write(find('textbox', 'Power per GPU'), 'much');
    expect(act.change.mock.calls).toEqual([
        [{ token_budget: 1e12 }, 'type'],
        [{ price_per_gpu_hour: 2.5 }, 'type'],
        [{ watts_per_gpu: 'much' }, 'type'],
    ]);
});

test('with an amount, the run follows; a large one stands in words', () => {
    const { page, answer } = answeredOf();
    const run = { steps: 119_210, days: 138, low_days: 124, high_days: 152, gpu_hours: 26_500, cost: null, energy_kwh: null };
    const job = { ...page.job, token_budget: 1e12 };
    const { find, text } = show(<Budget page={{ ...page, job, answer: { ...answer, time: { ...answer.time, run } } }} act={spies()} />);
    expect(text()).toContain(plain(`${format.rounded(26_500)} GPU-hours in 119,210 steps`));
    expect(text()).toContain('= 1 trillion');
    expect(find<HTMLInputElement>('textbox', 'Tokens to train on').value).toBe('1,000,000,000,000');
    expect(goodOf('limits', 'limits-70b').fewest_in_time?.cost).toBeGreaterThan(0);
});
