// Writes what is generated from the contract: node core/contract/generate.mjs
import { writeFileSync } from 'node:fs';
import { load, words } from './load.mjs';
import { reference } from './reference.mjs';
import { programs, typescript } from './typescript.mjs';

// Path in the repository -> text.
export function generated() {
    const contract = load();
    return {
        'web/src/core/api.ts': typescript(contract),
        'web/src/core/programs.json': programs(contract),
        'core/contract/api.md': reference(contract, words()),
    };
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
    for (const [path, text] of Object.entries(generated())) writeFileSync(new URL(`../../${path}`, import.meta.url), text);
}
