import { expect, test } from 'vitest';
import { format } from '../format/format';
import { Legend } from './legend';
import { nameOf } from './names';
import { answeredOf } from './test-data';
import { plain, show, textOf } from './test-view';

test('every part of the bar has its name and size', () => {
    const { answer } = answeredOf('llama-70b-64-h100');
    const items = show(<Legend answer={answer} />)
        .all('listitem')
        .map(textOf);
    const parts = answer.groups.filter(({ bytes }) => bytes > 0);
    expect(items.slice(0, parts.length)).toEqual(parts.map((part) => plain(`${nameOf('group', part)} ${format.gb(part.bytes)} GB`)));
    expect(items.length).toBe(parts.length + 1); // and what lies outside of the allocator
});
