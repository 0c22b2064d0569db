// What is generated from the contract (core/contract/) is what is checked in.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { generated } from '../../core/contract/generate.mjs';

for (const [path, text] of Object.entries(generated())) {
    test(`${path} is what core/contract/generate.mjs writes`, () => {
        assert.equal(readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8'), text);
    });
}
