import { afterEach, expect, test } from 'vitest';
import { answeredOf, goodOf } from '../shared/test-data';
import { show, textOf, unfold, write } from '../shared/test-view';
import { SendRun } from './send';

const { page, answer } = answeredOf();

function kept(content: string): void {
    const meta = document.createElement('meta');
    meta.name = 'repository';
    meta.content = content;
    document.head.append(meta);
}
afterEach(() => {
    for (const meta of document.querySelectorAll('meta[name="repository"]')) meta.remove();
});

test('without a repository there is nothing to send to', () => {
    expect(show(<SendRun page={page} answer={answer} />).text()).toBe('');
    kept('');
    expect(show(<SendRun page={page} answer={answer} />).text()).toBe('');
});

test('what the link takes along is told before the click', () => {
    kept('https://git.example/group/project');
    const { box, find, text } = show(<SendRun page={page} answer={answer} />);
    unfold(box, 'Send us your run');
    expect(text()).toContain('Nothing has been sent yet.');
    expect(text()).toContain('your browser sends the following to git.example, and nothing else from this page');
    write(find('textbox', /Measured time/), '104.5');
    write(find('textbox', /Most memory/), '58');
    const link = find<HTMLAnchorElement>('link', 'Open the filled form on git.example');
    const { origin, pathname, searchParams } = new URL(link.href);
    expect(origin + pathname).toBe('https://git.example/group/project/issues/new');
    expect(searchParams.get('time')).toMatch(/^measured_seconds=104\.5, estimated_seconds=/);
    expect([link.target, link.rel]).toEqual(['_blank', 'noreferrer']);
    const told = [...box.querySelectorAll('dd')].map((one) => one.textContent);
    expect(told.sort()).toEqual(
        [...searchParams]
            .filter(([id]) => id !== 'template')
            .map(([, value]) => value)
            .sort(),
    );
});

test('what is no number is said so, and does not go along', () => {
    kept('https://git.example/group/project');
    const { box, find, text } = show(<SendRun page={page} answer={answer} />);
    unfold(box, 'Send us your run');
    const field = find<HTMLInputElement>('textbox', /Measured time/);
    write(field, 'about 2 min');
    expect(field.getAttribute('aria-invalid')).toBe('true');
    expect(text()).toContain('“about 2 min” is not a number above 0.');
    write(field, '0');
    expect([field.value, field.getAttribute('aria-invalid')]).toEqual(['0', 'true']);
    expect(new URL(find<HTMLAnchorElement>('link').href).searchParams.has('time')).toBe(false);
});

test('runs of the calibration need no further number; too long a config stays here', () => {
    kept('https://git.example/group/project');
    const { rows } = goodOf('calibrate', 'calibrate');
    const { all, box, text } = show(<SendRun page={page} answer={answer} rows={rows} lines={'x'.repeat(9000)} />);
    const details = unfold(box, 'Send us your run');
    expect(all('textbox')).toHaveLength(0);
    expect(text()).toContain('Too long for a link: Link to the plan, and your lines.');
    expect(textOf(details)).toContain('measured_seconds=');
});
