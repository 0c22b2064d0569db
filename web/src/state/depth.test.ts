import { afterEach, expect, test, vi } from 'vitest';
import { openingDepth, rememberDepth } from './depth';
import { asSeen, withView } from './view';

afterEach(() => {
    vi.unstubAllGlobals();
});
function remembering(): void {
    const kept = new Map<string, string>();
    vi.stubGlobal('localStorage', {
        getItem: (key: string) => kept.get(key) ?? null,
        setItem: (key: string, value: string) => kept.set(key, value),
    });
}

test('a link decides, then the section that it names, then what was chosen last', () => {
    remembering();
    expect(openingDepth({ search: '', hash: '' })).toBe('plain');
    rememberDepth('detail');
    expect(openingDepth({ search: '', hash: '' })).toBe('detail');
    expect(openingDepth({ search: '?depth=plain', hash: '#best' })).toBe('plain');
    rememberDepth('plain');
    expect(openingDepth({ search: '?depth=deep', hash: '' })).toBe('plain');
    expect(openingDepth({ search: '', hash: '#best' })).toBe('detail');
    expect(openingDepth({ search: '', hash: '#answer' })).toBe('plain');
    expect(openingDepth({ search: '?gpus=8&phases=1e12_8192_8_8', hash: '' })).toBe('detail');
    expect(openingDepth({ search: '?gpus=8&pools=b200-sxm-180gb_8', hash: '' })).toBe('detail');
    expect(openingDepth({ search: '?depth=plain&pools=b200-sxm-180gb_8', hash: '' })).toBe('plain');
});

test('a way to another run keeps the depth and the language of the link that the reader came with', () => {
    vi.stubGlobal('location', { search: '?v=2&gpus=8&depth=detail&lang=ja' });
    expect(asSeen('?v=2&gpus=64')).toBe('?v=2&gpus=64&lang=ja&depth=detail');
    vi.stubGlobal('location', { search: '?v=2&gpus=8' });
    expect(asSeen('?v=2&gpus=64')).toBe('?v=2&gpus=64');
});

test('where nothing may be kept the page is plain', () => {
    vi.stubGlobal('localStorage', undefined);
    rememberDepth('detail');
    expect(openingDepth({ search: '', hash: '' })).toBe('plain');
});

test('how the page shows a link stands beside the job in it', () => {
    expect(withView('?v=2&gpus=8', 'depth', 'detail')).toBe('?v=2&gpus=8&depth=detail');
    expect(withView('?v=2&depth=plain&gpus=8#best', 'depth', 'detail')).toBe('?v=2&gpus=8&depth=detail#best');
    expect(withView('?v=2&depth=detail', 'depth', null)).toBe('?v=2');
});
