import { expect, test, vi } from 'vitest';
import { format } from '../format/format';
import { answeredOf, pageOf } from '../shared/test-data';
import { later, plain, show, spies, tap, textOf } from '../shared/test-view';
import type { Page } from '../store/page';
import { say } from '../words/words';
import { Answer } from './answer';

const never = () => new Promise<never>(() => {});
const asks = { estimate: never, exportPlan: never };
const NoCard = () => null;

function shown(page: Page) {
    const act = spies();
    return { act, ...show(<Answer page={page} act={act} asks={asks} Card={NoCard} />) };
}

test('a run that fits: the verdict, memory and time, and whose plan it is', () => {
    const { page, answer } = answeredOf();
    const { find, text } = shown(page);
    const used = format.headline(answer.whole_bytes, answer.card_bytes);
    expect(textOf(find('heading'))).toBe(plain(`It fits. The fullest GPU needs ${used} of its 80 GB.`));
    expect(text()).toContain(plain(`steps of ${format.duration(answer.time.step_seconds)}`));
    expect(text()).toContain('chosen for you');
});

test('a run that does not fit says how much it would need', () => {
    const { page, answer } = answeredOf('does-not-fit');
    const { all, text } = shown(page);
    expect(textOf(all('heading')[0] as Element)).toBe(
        plain(
            `It does not fit. The fullest GPU would need ${format.headline(answer.whole_bytes, answer.card_bytes)} GB, but it has 40 GB.`,
        ),
    );
    expect(text()).toMatch(/No way to split it over 8 of these GPUs fits\./);
    expect(say('answer.no_plan', { gpus: 1 })).toBe('No plan fits on one of these GPUs.');
});

test('a refusal takes the place of the answer; each problem with a way out', async () => {
    const page = pageOf('broken-rules');
    const { act, all, find, text } = shown(page);
    expect(textOf(all('heading')[0] as Element)).toMatch(/^Cannot work\. The 32 attention heads cannot be shared/);
    expect(text()).not.toContain('One step takes');
    await expect.poll(text).toContain('Set Tensor parallel');
    tap(find('button', /^Set Tensor parallel/));
    expect(act.change).toHaveBeenCalledWith({ tensor_parallel: page.problems[0]?.nearest }, 'choose');
});

test('what cannot be read is no impossible plan', () => {
    expect(textOf(shown(pageOf('bad-request')).all('heading')[0] as Element)).toMatch(
        /^Not clear yet\. There is no model “lama-3.1-8b” here\./,
    );
});

test('before the first answer there is no headline', () => {
    const { all } = shown(pageOf('default', { answer: null }));
    expect(all('heading')).toEqual([]);
});

test('the ear hears the whole answer once it rests, and that a late one is late', async () => {
    vi.useFakeTimers();
    const { page } = answeredOf();
    const act = spies();
    const { again, one } = show(<Answer page={page} act={act} asks={asks} Card={NoCard} />);
    await later(1000);
    expect(textOf(one('[aria-live=polite].sr'))).toMatch(
        /^Llama 3.1 8B on 8 × H100 SXM 80 GB with 8,192-token sequences fits: .* One step takes/,
    );
    again(<Answer page={{ ...page, late: true }} act={act} asks={asks} Card={NoCard} />);
    await later(1000);
    expect(textOf(one('[aria-live=polite].sr'))).toBe('Still computing; this is the previous answer.');
    expect(one('#answer').classList).toContain('late');
});

test('a tap tells why this plan and no other', async () => {
    const { find, text } = shown(pageOf());
    const why = find('button', 'Why this plan?');
    expect(text()).not.toContain('A search compares all plans');
    tap(why);
    expect(why.getAttribute('aria-expanded')).toBe('true');
    await expect.poll(text).toContain('A search compares all plans');
});

test('a plan is yours where you have set all of it, and partly where some', () => {
    const { page, answer } = answeredOf();
    expect(shown({ ...page, job: { ...page.job, tensor_parallel: 1 } }).text()).toContain('partly yours');
    const set = Object.fromEntries(
        Object.entries(page.job).map(([key, value]) => [key, value === 'auto' ? answer.job[key as 'gpus'] : value]),
    );
    expect(shown({ ...page, job: set }).text()).toContain('your plan');
});
