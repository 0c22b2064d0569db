import { expect, test } from 'vitest';
import { Refused, wrongAt } from './refused';
import { refusalOf } from './test-data';
import { show } from './test-view';

const told = refusalOf('pools-bad');

test('each mistake stands in a list, under the name of its field, and its field finds it there', () => {
    const { all, text } = show(<Refused told={told} nameOf={(field) => `the ${field}`} />);
    expect(all('listitem')).toHaveLength(told.problems.length);
    for (const { field } of told.problems) {
        expect(text()).toContain(`the ${field}`);
        const { wrong, describedBy } = wrongAt(told, field);
        expect(document.getElementById(describedBy ?? '')?.textContent).toContain(wrong);
    }
});

test('what is no refusal has nothing wrong', () => {
    for (const other of [null, 'working', { ok: true }, told]) expect(wrongAt(other, 'no_such_field').wrong).toBeUndefined();
});
