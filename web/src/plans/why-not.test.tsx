import { expect, test } from 'vitest';
import type { Versus } from '../core/api';
import { goodOf, rankedPage, refusalOf } from '../shared/test-data';
import { show, spies, textOf, write } from '../shared/test-view';
import type { Ranking } from '../store/ranked';
import { differencesOf, WhyNot } from './why-not';

const versus = goodOf('versus', 'versus');

function shown(ranking: Partial<Ranking> = {}) {
    const page = rankedPage();
    const act = spies();
    return { act, ...show(<WhyNot page={{ ...page, ranking: { ...page.ranking, ...ranking } }} act={act} />) };
}
const reply = (changes: Partial<Versus>): string => textOf(shown({ asked: {}, answer: { ...versus, ...changes } }).find('status'));

test('degrees are asked for as they are typed', () => {
    const { act, find, one } = shown();
    expect(find<HTMLButtonElement>('button', 'Ask').disabled).toBe(true);
    write(find('textbox', 'Why not: Tensor parallel (TP)'), ' 8 ');
    write(find('textbox', 'Why not: Micro-batch'), 'two');
    expect(find<HTMLButtonElement>('button', 'Ask').disabled).toBe(false);
    one('form').dispatchEvent(new Event('submit', { cancelable: true }));
    expect(act.whyNot).toHaveBeenCalledWith({ tensor_parallel: 8, micro_batch: 'two' });
    write(find('textbox', 'Why not: Tensor parallel (TP)'), '1e999'); // no number of JSON
    write(find('textbox', 'Why not: Micro-batch'), '1,024');
    one('form').dispatchEvent(new Event('submit', { cancelable: true }));
    expect(act.whyNot).toHaveBeenLastCalledWith({ tensor_parallel: '1e999', micro_batch: 1024 });
});

test('every outcome has its answer', () => {
    expect(textOf(shown({ asked: {} }).find('status'))).toBe('One moment…');
    expect(reply({ outcome: 'slower', seconds: 2, seconds_share: 0.1, time: [] })).toMatch(/2.00 s \(10 %\) more than the first\.$/);
    expect(reply({})).toMatch(/the best plan with these numbers/);
    expect(reply({ outcome: 'faster' })).toMatch(/^You can use it: tensor 8/);
    expect(reply({ outcome: 'as_fast' })).toContain('as fast as the first');
    expect(reply({ outcome: 'does_not_fit' })).toContain('too much to run without great risk');
    const { problems } = refusalOf('broken-rules');
    expect(reply({ outcome: 'breaks_rule', other: { ok: false, problems } })).toMatch(/^It cannot work\. The 32 attention heads/);
    expect(textOf(shown({ asked: {}, answer: refusalOf('broken-rules') }).find('status'))).toMatch(/^The 32 attention heads/);
});

test('what the told reasons leave over is told too, where it matters', () => {
    const item = (id: string, seconds: number) => ({ id, kind: 'compute' as const, seconds });
    const time = [item('multiplications', -7), item('head', 6), item('attention', 3), item('optimizer', 0.8), item('element_wise', 0.7)];
    expect(differencesOf(time)).toMatch(/3\.00.s more attention, 1\.50.s more other work$/);
    expect(differencesOf(time.slice(0, 3))).not.toContain('other work');
});
