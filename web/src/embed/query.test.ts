import { expect, test } from 'vitest';
import { catalog } from '../shared/test-data';
import { linkIn, themeIn } from './query';

test('fields by their keys or by their names in a link; what is about the frame is no part of it', () => {
    const asked = '?embed=1&theme=dark&model=llama-3.1-8b&sequence_length=4096&tp=2&unknown=x';
    expect(linkIn(asked, catalog)).toBe('model=llama-3.1-8b&seq=4096&tp=2&unknown=x');
});

test('a theme is light or dark, or the reader’s', () => {
    expect(['?theme=dark', '?theme=light', '?theme=blue', ''].map(themeIn)).toEqual(['dark', 'light', null, null]);
});
