// The package "fourfold", packed and installed without a network, for the tests of a file.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { fileURLToPath } from 'node:url';
import { loadModule, root } from './module.mjs';

export const top = fileURLToPath(root);
export const JOB = { model: 'llama-3.1-8b', gpu: 'h100-sxm-80gb', gpus: 8 };
export const TOO_LARGE = { ...JOB, model: 'llama-3.1-70b' };
export const options = (job) => Object.entries(job).flatMap(([key, value]) => [`--${key}`, String(value)]);

export let folder; // it is installed there
export let core; // the module of the page
const npm = (args, cwd) => execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
export const run = (command, args, { input = '', env = {} } = {}) => {
    const { status, stdout, stderr } = spawnSync(command, args, {
        cwd: folder,
        encoding: 'utf8',
        input,
        env: { ...process.env, LANG: 'C', LC_ALL: 'C', ...env },
    });
    return { status, stdout, stderr };
};
export const fourfold = (args, more) => run(join(folder, 'node_modules/.bin/fourfold'), args, more);
export const installed = (name) => readFileSync(join(folder, 'node_modules/fourfold', name));

before(async () => {
    core = await loadModule();
    folder = mkdtempSync(join(tmpdir(), 'fourfold-npm-'));
    const [{ filename }] = JSON.parse(npm(['pack', '--json', '--pack-destination', folder], join(top, 'build/package')));
    writeFileSync(join(folder, 'package.json'), '{"private": true, "type": "module"}');
    npm(['install', '--offline', '--no-audit', '--no-fund', `./${filename}`], folder);
});
after(() => rmSync(folder, { recursive: true, force: true }));
