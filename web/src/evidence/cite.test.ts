import { expect, test } from 'vitest';
import { bibtex } from './cite';

const day = new Date('2026-11-23T12:00:00Z');

test('the page with its version and the day, then both papers', () => {
    const text = bibtex('https://example.org/fourfold/', '1.2.3', day);
    expect(text.startsWith('@software{fourfold,\n  title   = {{Fourfold}: ')).toBe(true);
    for (const part of [
        'year    = {2026}',
        'version = {1.2.3}',
        'url     = {https://example.org/fourfold/}',
        'note    = {Visited 2026-11-23}',
    ])
        expect(text).toContain(part);
    expect(text.match(/^@/gm)).toHaveLength(3);
    for (const paper of ['2411.06465', '2405.18093']) expect(text).toContain(`eprint        = {${paper}}`);
    expect(text.split('{').length).toBe(text.split('}').length);
});

test('where the build knows no version, none is written', () => {
    expect(bibtex('https://example.org/', '', day)).not.toContain('version');
});
