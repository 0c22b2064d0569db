import { expect, test } from 'vitest';
import { format } from '../format/format';
import { answeredOf } from '../shared/test-data';
import { focus, show, textOf, unfold } from '../shared/test-view';
import { explained, Formula, tokenText } from './formula';

const { answer } = answeredOf('llama-405b-512-h100');
const itemOf = (group: string) => {
    const [item] = answer.groups.find(({ id }) => id === group)?.items ?? [];
    const whole = item && explained(item);
    if (!whole) throw new Error(`no ${group}`);
    return whole;
};

test('in symbols, in numbers, with its source', () => {
    const item = itemOf('weights');
    const { find, text } = show(<Formula item={item} result="R" write={format.number} />);
    expect(text()).toContain(
        `In symbols ${tokenText(item.formula, format.number)} With your numbers ${tokenText(item.numbers, format.number)}`,
    );
    expect(find('link').getAttribute('href')).toBe(item.source.url);
});

test('a symbol under the pointer or the focus says what it stands for', () => {
    const { all, one, text } = show(<Formula item={itemOf('weights')} result="R" write={format.number} />);
    expect(text()).toContain('Point at a symbol');
    focus(all('button')[0] as Element);
    expect(textOf(one('.pointed'))).toMatch(/^P = .* \(parameters on this GPU/);
    expect(textOf(one('.pointed-at th'))).toBe('P');
});

test('of a long list, the symbols behind the formula are folded', () => {
    const item = answer.time.items.map(explained).find((one) => one && one.where.length > 16);
    if (!item) throw new Error('no long formula');
    const { box } = show(<Formula item={item} result="R" write={format.measured} />);
    const folded = unfold(box, /more symbols$/);
    const direct = new Set(item.formula.flatMap((token) => (typeof token === 'object' ? [token.symbol] : [])));
    expect(folded.querySelectorAll('tr')).toHaveLength(item.where.length - direct.size);
});
