import { expect, test } from 'vitest';
import { format } from '../format/format';
import { answeredOf } from '../shared/test-data';
import { plain, show } from '../shared/test-view';
import { tell } from '../words/words';
import { Grounds } from './grounds';

test('three meters, the band of a step, the measured runs', () => {
    const { answer } = answeredOf();
    const { find, text } = show(<Grounds answer={answer} depth="detail" />);
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
    expect(show(<Grounds answer={answer} depth="detail" />).text()).not.toContain('reserves');
});

test('in plain depth no meter and no library is named: the headline has said what counts', () => {
    const { answer } = answeredOf();
    const { text } = show(<Grounds answer={answer} depth="plain" />);
    expect(text()).not.toMatch(/PyTorch|NCCL|CUDA|allocates|reserves/);
    expect(text()).toContain(plain(tell(answer.verdict_basis)));
});
