import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Catalog, Field } from '../core/api';
import { defaults, formatLink, parseLink } from '../state/state';
import { GROUPS, groupOf } from './groups';

const fields = JSON.parse(readFileSync(new URL('../../../tests/golden/fields.json', import.meta.url), 'utf8')).response as Field[];
const catalog = { fields, methods: [] } as unknown as Catalog;
const details = GROUPS.find(([id]) => id === 'framework')?.[1] ?? [];

test('a group names fields of the catalogue, each in one group alone', () => {
    const keys = GROUPS.flatMap(([, inside]) => inside);
    expect(new Set(keys).size).toBe(keys.length);
    expect(keys.filter((key) => key !== 'cluster' && fields.every((field) => field.key !== key))).toEqual([]);
    expect(groupOf('framework')).toBe('kernels');
});

test('details of the framework are those that it decides itself, but for its kernels, its way to experts and its weights in fp32', () => {
    const habits = fields.filter((field) => field.type === 'choice' && !field.auto && field.default === 'auto');
    expect(habits.map(({ key }) => key).filter((key) => groupOf(key) === 'framework')).toEqual(details);
    expect(habits.map(({ key }) => key).filter((key) => groupOf(key) !== 'framework')).toEqual([
        'master_weights',
        'offload_master_weights',
        'expert_dispatch',
        'attention',
        'loss',
    ]);
});

test('a link has those details that are set, and no other ones', () => {
    const initial = defaults(catalog);
    const without = formatLink(initial, catalog);
    const written = [...new URLSearchParams(without).keys()];
    for (const key of details) {
        const link = fields.find((field) => field.key === key)?.link ?? '';
        expect(written).not.toContain(link);
        const job = { ...initial, [key]: 'off' };
        expect(formatLink(job, catalog)).toBe(`${without}&${link}=off`);
        expect(parseLink(formatLink(job, catalog), catalog)).toMatchObject({ job, unknown: [] });
    }
});
