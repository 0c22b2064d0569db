import { expect, test } from 'vitest';
import { goodOf, refusalOf } from '../shared/test-data';
import { show } from '../shared/test-view';
import { Warnings } from './warnings';

test('what can work and should be known is said, each in a line', () => {
    const { problems } = refusalOf('broken-rules');
    const { text } = show(<Warnings answer={{ ...goodOf('estimate', 'default'), warnings: problems.slice(0, 2) }} />);
    expect(text().match(/Note /g)).toHaveLength(2);
    expect(text()).toContain('cannot be shared evenly');
});
