import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import programs from './programs.json';

const root = new URL('../../../', import.meta.url);

test('every format that is read has programs, which README names', () => {
    const { enum: ids, 'x-programs': all } = JSON.parse(readFileSync(new URL('core/contract/import_plan.json', root), 'utf8')).$defs
        .ImportFormat;
    expect(Object.keys(all).sort()).toEqual([...ids].sort());
    expect(readFileSync(new URL('README.md', root), 'utf8')).toContain(`${programs.slice(0, -1).join(', ')} or ${programs.at(-1)}.`);
});
