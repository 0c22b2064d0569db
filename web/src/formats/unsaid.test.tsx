import { expect, test, vi } from 'vitest';
import { goodOf, pageOf } from '../shared/test-data';
import { show, write } from '../shared/test-view';
import { Unsaid, withAlso } from './unsaid';

const [plan] = goodOf('import_plan', 'import-script').jobs;
if (!plan) throw new Error('the golden script starts nothing');
const of = (job: object) => ({ ...plan, job: { ...plan.job, ...job } });

test('the kind of GPU and the tokens are asked for where the text does not say them', () => {
    const answer = vi.fn();
    const { find, all, again } = show(<Unsaid page={pageOf()} plan={of({ token_budget: 0 })} also={{}} answer={answer} />);
    write(find('textbox', 'Tokens to train on'), '2M');
    expect(answer).toHaveBeenLastCalledWith({ tokens: 2e6 });
    expect(find<HTMLSelectElement>('combobox', 'GPU').value).toBe(pageOf().job.gpu);
    again(<Unsaid page={pageOf()} plan={of({ token_budget: 1e9, gpu: 'b200-sxm-180gb' })} also={{}} answer={answer} />);
    expect([...all('textbox'), ...all('combobox')]).toEqual([]);
});

test('an answer is part of the job; what is no number is not', () => {
    expect(withAlso(of({ token_budget: 0 }), { tokens: 2e6, gpu: 'a100-sxm-80gb' }).job).toMatchObject({
        token_budget: 2e6,
        gpu: 'a100-sxm-80gb',
        cluster: '',
    });
    expect(withAlso(of({ token_budget: 0 }), { tokens: 'many' })).toEqual(of({ token_budget: 0 }));
});
