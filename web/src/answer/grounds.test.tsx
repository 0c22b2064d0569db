import { expect, test } from 'vitest';
import { format } from '../format/format';
import { answeredOf } from '../shared/test-data';
import { plain, show } from '../shared/test-view';
import { Grounds } from './grounds';

test('three meters, the band of a step, the measured runs', () => {
    const { answer } = answeredOf();
    const { find, text } = show(<Grounds answer={answer} />);
    const [allocated, reserved] = [answer.total_bytes, answer.reserved_bytes].map((bytes) => format.headline(bytes, answer.card_bytes));
    expect(text()).toContain(plain(`allocates ${allocated} GB and reserves ${reserved} GB`));
    expect(text()).toContain(plain(`One step takes ${format.duration(answer.time.step_seconds)}`));
    // Days and money stand beside it, and are said once.
    expect(answer.time.run).toBeTruthy();
    expect(text()).not.toMatch(/tokens:|Cost:|Energy:/);
    expect(find('link').getAttribute('href')).toBe('#evidence');
});

test('the method of the paper knows one meter', () => {
    const { answer } = answeredOf('fujii2024');
    expect(show(<Grounds answer={answer} />).text()).not.toContain('reserves');
});
