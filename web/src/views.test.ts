// Every view has a test beside it that draws it.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const read = (name: string): string => readFileSync(join(import.meta.dirname, name), 'utf8');
const views = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.tsx') && !/\.test\.tsx$|\/test-/.test(name))
    .map((name) => ({
        name,
        components: [...read(name).matchAll(/^export (?:async )?(?:function|const|class) ([A-Z]\w*[a-z]\w*)/gm)].map(([, one]) => one),
    }));

test('each exported component is drawn in the test beside its file', () => {
    expect(views.flatMap(({ components }) => components).length).toBeGreaterThan(70);
    const undrawn = views.flatMap(({ name, components }) => {
        const beside = name.replace(/\.tsx$/, '.test.tsx');
        const text = existsSync(join(import.meta.dirname, beside)) ? read(beside) : '';
        return components.filter((one) => !new RegExp(`<${one}\\b`).test(text)).map((one) => `${name}: ${one}`);
    });
    expect(undrawn).toEqual([]);
});
