// The package "fourfold" as somebody else's program uses it: imported, typed, built into a page, and as a gate.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { serveFolder } from '../../.ci/static-server.mjs';
import { openPage, startChromium } from './chromium.mjs';
import { root } from './module.mjs';
import { core, folder, fourfold, installed, JOB, options, run, TOO_LARGE, top } from './npm.mjs';

const script = (text) => {
    writeFileSync(join(folder, 'use.mjs'), text);
    return run(process.execPath, ['use.mjs']);
};

test('it holds the very module of the page, and needs no other package', () => {
    for (const name of ['fourfold.mjs', 'fourfold.wasm', 'fourfold_formats.mjs', 'fourfold_formats.wasm']) {
        assert.ok(installed(name).equals(readFileSync(join(top, 'build/wasm/wasm', name))), name);
    }
    const { dependencies, version, license } = JSON.parse(installed('package.json'));
    assert.equal(dependencies, undefined);
    assert.equal(license, 'MIT');
    for (const bundled of ['yaml', 'smol-toml']) assert.match(installed('licenses.md').toString(), new RegExp(`^## ${bundled} - `, 'm'));
    assert.match(readFileSync(join(top, 'CMakeLists.txt'), 'utf8'), new RegExp(`project\\(fourfold VERSION ${version} `));
    assert.equal(fourfold(['--version']).stdout, `${version}\n`);
});

test('a program imports it and gets the answers of the module, and their words', () => {
    const { stdout, stderr, status } = script(`
        import { core, estimate, findModels, importConfig, limits, problem, rank, readLink, search, speak, tell, writeLink } from 'fourfold';
        const job = ${JSON.stringify(JOB)};
        const answer = await estimate(job);
        const refusal = await estimate({ ...job, gpus: 0 });
        await speak('en');
        const english = refusal.problems.map(problem);
        await speak('ja');
        const link = await writeLink(answer.job);
        console.log(JSON.stringify({
            answer, english, japanese: refusal.problems.map(problem), verdict: tell(answer.verdict),
            same: (await core()) === (await core()),
            again: await estimate(await readLink('https://example.org/' + link + '#best')),
            plans: (await rank(job)).plans.step_seconds.length, fewest: (await limits(job)).fewest_gpus.gpus,
            columns: (await search({ ...job, gpu_counts: [8] })).columns.gpus.constructor.name,
            found: (await findModels({ words: 'pythia 1.4b' })).models.map(({ id }) => id),
            config: (await importConfig('{}')).ok,
        }));
    `);
    assert.equal(status, 0, stderr);
    const said = JSON.parse(stdout);
    assert.deepEqual(said.answer, JSON.parse(core.estimate(JSON.stringify(JOB))));
    assert.deepEqual(said.english, ['GPUs must be a whole number from 1 to 1,048,576. 0 is too small.']);
    assert.match(said.japanese[0], /整数/);
    assert.match(said.verdict, /[ぁ-ん]/);
    assert.equal(said.same, true);
    assert.deepEqual(said.again.job, said.answer.job);
    assert.equal(said.again.whole_bytes, said.answer.whole_bytes);
    assert.equal(said.plans, JSON.parse(core.rank(JSON.stringify(JOB))).plans.step_seconds.length);
    assert.equal(said.fewest, JSON.parse(core.limits(JSON.stringify(JOB))).fewest_gpus.gpus);
    assert.equal(said.columns, 'Int32Array');
    assert.deepEqual(said.found, ['pythia-1.4b']);
    assert.equal(said.config, false);
});

test('its types are those of the contract, for Node and for bundlers', () => {
    writeFileSync(
        join(folder, 'use.ts'),
        `import { estimate, type Estimate, type JobRequest, rank } from 'fourfold';
        const job: JobRequest = { model: 'llama-3.1-8b', gpus: 8 };
        const answer = await estimate(job);
        export const seconds: number | undefined = answer.ok ? answer.time.step_seconds : undefined;
        export const size = (one: Estimate): number => one.whole_bytes;
        // @ts-expect-error: no such key
        await rank({ gpuss: 8 });
        // @ts-expect-error: may be a refusal
        export const wrong: number = answer.whole_bytes;`,
    );
    const tsc = join(top, 'web/node_modules/typescript/bin/tsc');
    for (const kind of [['nodenext', 'nodenext'], ['esnext', 'bundler']]) {
        const [module, resolution] = kind;
        const checked = run(process.execPath, [
            tsc, '--noEmit', '--strict', '--exactOptionalPropertyTypes', '--target', 'es2022', '--lib', 'es2022,dom',
            '--module', module, '--moduleResolution', resolution, 'use.ts',
        ]);
        assert.equal(checked.stdout + checked.stderr.replace(/^npm .*\n/gm, ''), '');
        assert.equal(checked.status, 0);
    }
});

test('a bundler builds it for a page: the module stays a file of its own, and a browser gets the same answer', async () => {
    const page = join(folder, 'page');
    mkdirSync(page);
    writeFileSync(join(page, 'index.html'), '<!doctype html><title>page</title><link rel="icon" href="data:," /><script type="module" src="./main.js"></script>');
    writeFileSync(
        join(page, 'main.js'),
        `import { estimate, speak, tell } from 'fourfold';
        await speak('en');
        const answer = await estimate(${JSON.stringify(JOB)});
        globalThis.answered = { answer, verdict: tell(answer.verdict) };`,
    );
    const { build } = await import(new URL('web/node_modules/vite/dist/node/index.js', root));
    const built = await build({ configFile: false, root: page, base: './', logLevel: 'silent', build: { target: 'es2022' } });
    const names = built.output.map(({ fileName }) => fileName);
    for (const file of [/\/fourfold-/, /\/fourfold_formats-/]) assert.equal(names.filter((name) => name.endsWith('.wasm') && file.test(name)).length, 1, names.join(' '));
    const { server, url } = await serveFolder(join(page, 'dist'), 0);
    const { browser, stop } = await startChromium();
    try {
        const { page: tab, faults } = await openPage(browser, url);
        await tab.waitForFunction(() => globalThis.answered);
        const { answer, verdict } = await tab.evaluate(() => globalThis.answered);
        assert.deepEqual(answer, JSON.parse(core.estimate(JSON.stringify(JOB))));
        assert.match(verdict, /^[A-Z].*\.$/);
        assert.deepEqual(faults, []);
    } finally {
        await stop();
        server.closeAllConnections();
        server.close();
    }
});

test('the action fails the job where the run does not fit', () => {
    const action = readFileSync(join(top, '.github/actions/fit/action.yml'), 'utf8');
    const code = action.slice(action.indexOf('run: |\n') + 7).replace(/^ {8}/gm, '');
    const act = (args) => {
        const env = { INPUT_FILE: '', INPUT_ARGUMENTS: args, INPUT_PACKAGE: 'fourfold', GITHUB_STEP_SUMMARY: join(folder, 'summary.md') };
        return run('bash', ['-e', '-o', 'pipefail', '-c', code], { env: { ...env, npm_config_offline: 'true' } });
    };
    assert.equal(act(options(JOB).join(' ')).status, 0);
    assert.equal(act(options(TOO_LARGE).join(' ')).status, 1);
    assert.equal(act("--gpus '2 nodes' --model none").status, 2);
    const summary = readFileSync(join(folder, 'summary.md'), 'utf8');
    assert.match(summary, /fits: /);
    assert.match(summary, /does not fit: /);
});
