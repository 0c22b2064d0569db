import { afterEach, expect, test } from 'vitest';
import { choose, show, spies, tap } from '../shared/test-view';
import { Header } from './header';

afterEach(() => {
    localStorage.clear();
    delete document.documentElement.dataset.theme;
});

test('the way to every section, and past all of them', () => {
    const { all, names } = show(<Header language="en" depth="detail" act={spies()} />);
    expect(names('navigation')).toEqual(['Sections']);
    const ways = all('link').map((one) => one.getAttribute('href'));
    expect(ways).toEqual(['#answer', './', '#best', '#gpus', '#cards', '#placement', '#plans', '#compare', '#evidence', '#how']);
});

test('two depths', () => {
    const act = spies();
    const { find } = show(<Header language="en" depth="plain" act={act} />);
    expect(find('button', 'Plain').getAttribute('aria-pressed')).toBe('true');
    tap(find('button', 'Every detail'));
    expect(act.deepen).toHaveBeenCalledWith('detail');
});

test('every language under its own name', () => {
    const act = spies();
    const { find, names } = show(<Header language="ja" depth="plain" act={act} />);
    expect(find<HTMLSelectElement>('combobox', 'Language').value).toBe('ja');
    expect(names('option')).toContain('English');
    choose(find('combobox', 'Language'), 'en');
    expect(act.speak).toHaveBeenCalledWith('en');
});

test('a tap goes from one theme to the next, and it is kept', () => {
    const { find } = show(<Header language="en" depth="plain" act={spies()} />);
    for (const [now, next] of [
        ['auto', 'light'],
        ['light', 'dark'],
        ['dark', undefined],
    ]) {
        tap(find('button', `Colours: ${now}. Change.`));
        expect(document.documentElement.dataset.theme).toBe(next);
    }
    expect(localStorage.getItem('fourfold-theme')).toBe('auto');
});
