import { expect, test } from 'vitest';
import { show } from '../shared/test-view';
import { themeAround } from './around';

const around = (outer: Record<string, string>, inner: Record<string, string> = {}): string => {
    const { one } = show(
        <div style={{ ...outer }}>
            <p style={{ ...inner }}>text</p>
        </div>,
    );
    return themeAround(one('p'));
};

test('the nearest background decides, whatever the scheme', () => {
    expect(around({ backgroundColor: 'rgb(19, 21, 23)' })).toBe('dark');
    expect(around({ backgroundColor: 'rgb(19, 21, 23)' }, { backgroundColor: 'rgb(255, 255, 240)' })).toBe('light');
    expect(around({ backgroundColor: 'rgb(19, 21, 23)' }, { backgroundColor: 'rgba(255, 255, 255, 0.1)' })).toBe('dark');
});

test('a page without a background has that of its scheme', () => {
    expect(around({}, { colorScheme: 'dark' })).toBe('dark');
    expect([around({}), around({}, { colorScheme: 'light' })]).toEqual(['light', 'light']);
});
