// The library as another program uses it: installed, found by find_package, linked, asked.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

test('a program outside of the tree builds with the installed library and gets an answer', () => {
    const folder = mkdtempSync(join(tmpdir(), 'fourfold-package-'));
    const run = (command, ...args) => execFileSync(command, args, { encoding: 'utf8', maxBuffer: 1e8 });
    try {
        const installed = join(folder, 'installed');
        const built = join(folder, 'built');
        run('cmake', '--install', join(root, 'build/release'), '--prefix', installed);
        run('cmake', '-G', 'Ninja', '-S', join(root, 'tests/package'), '-B', built, `-DCMAKE_PREFIX_PATH=${installed}`);
        run('cmake', '--build', built);
        const answer = JSON.parse(run(join(built, 'uses_fourfold')));
        assert.equal(answer.ok, true);
        assert.ok(answer.total_bytes > 1e9 && answer.time.step_seconds > 0);
    } finally {
        rmSync(folder, { recursive: true });
    }
});
