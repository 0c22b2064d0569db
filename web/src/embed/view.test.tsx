import { expect, test } from 'vitest';
import { format } from '../format/format';
import { nameOf as partOf } from '../shared/names';
import { answeredOf, pageOf } from '../shared/test-data';
import { nameOf, plain, show, textOf } from '../shared/test-view';
import { Embedded } from './view';

const WHOLE = './?v=2&gpus=8';

test('sentence, bar, time and a way to the whole', () => {
    const { page, answer } = answeredOf();
    const { find, one, text } = show(<Embedded page={page} whole={WHOLE} />);
    expect(textOf(find('heading'))).toMatch(/^It fits\. Llama 3\.1 8B on 8 × H100/);
    expect(text()).toContain(plain(`One step takes ${format.duration(answer.time.step_seconds)}`));
    expect(find('link').getAttribute('href')).toBe(WHOLE);
    for (const { id, bytes } of answer.groups)
        if (bytes > 0) expect(text()).toContain(plain(`${partOf('group', { id })} ${format.gb(bytes)}`));
    const bar = one('svg.bar');
    for (const { bytes } of answer.groups) if (bytes > 0) expect(nameOf(bar)).toContain(plain(`${format.gb(bytes)} GB`));
    expect(bar.querySelector('.part.activations')?.getAttribute('width')).toBe(
        `${((answer.groups.find(({ id }) => id === 'activations')?.share ?? 0) * 100).toFixed(3)}%`,
    );
});

test('a run that cannot work: the reason, no bar', () => {
    const { all, find } = show(<Embedded page={pageOf('broken-rules')} whole={WHOLE} />);
    expect(textOf(find('heading'))).toMatch(/^Cannot work\. .* cannot work: /);
    expect(all('img')).toEqual([]);
});
