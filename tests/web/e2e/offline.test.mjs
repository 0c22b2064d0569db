// Without a network after the first visit, and what a newer build does: never hidden while there is a network, never mixed with an older one.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { serveFolder } from '../../../.ci/static-server.mjs';
import { openPage, startChromium } from '../chromium.mjs';
import { dist, eventually, settled } from './browser.mjs';
import { field, headline, later, plain } from './find.mjs';
import { answerOf, used } from './numbers.mjs';
import { say } from './said.mjs';
import { words } from './words.mjs';

const run = '?v=2&model=llama-3.1-70b&gpus=64&tp=8&pp=4&cp=1&mb=1';

let chromium;
before(async () => {
    chromium = await startChromium({ serviceWorkers: 'allow' });
});
after(() => chromium?.stop());

// A host whose network can go and come back, with a build of its own that can be replaced.
async function withHost(body) {
    const folder = mkdtempSync(join(tmpdir(), 'fourfold-offline-'));
    cpSync(dist, folder, { recursive: true });
    let served = await serveFolder(folder, 0, { base: '/fourfold/' });
    const { port } = served.server.address();
    const pages = [];
    const host = {
        folder,
        url: served.url,
        async down() {
            served.server.closeAllConnections();
            await new Promise((done) => served.server.close(done));
        },
        async up() {
            served = await serveFolder(folder, port, { base: '/fourfold/' });
        },
        async open(query = '') {
            const one = await openPage(chromium.browser, served.url + query);
            pages.push(one.page);
            await one.page.mouse.move(2, 2);
            await settled(one.page);
            return one.page;
        },
    };
    try {
        await body(host);
    } finally {
        for (const page of pages) await page.close();
        await host.down().catch(() => {});
        rmSync(folder, { recursive: true, force: true });
    }
}

// All files are there, and the next page comes from them if it must.
const whole = (page) => page.waitForFunction(async () => (await navigator.serviceWorker.ready).active?.state === 'activated');
const build = (page) => page.evaluate(() => document.documentElement.dataset.build ?? 'first');

// Another build: one script that says so, under another name, in the page and in the list.
function newBuild(folder, id) {
    const assets = join(folder, 'assets');
    const boot = readdirSync(assets).find((name) => name.startsWith('boot-'));
    const next = `boot-${id}${'0'.repeat(8 - id.length)}.js`;
    renameSync(join(assets, boot), join(assets, next));
    const code = readFileSync(join(assets, next), 'utf8');
    writeFileSync(join(assets, next), `document.documentElement.dataset.build = '${id}';\n${code}`);
    const page = join(folder, 'index.html');
    writeFileSync(page, readFileSync(page, 'utf8').replaceAll(boot, next));
    const worker = join(folder, 'sw.js');
    const [list, ...rest] = readFileSync(worker, 'utf8').split('\n');
    const known = Object.keys(JSON.parse(list.slice(list.indexOf('{'), -1))).map((name) => (name.endsWith(boot) ? `assets/${next}` : name));
    const hashes = Object.fromEntries(known.map((name) => [name, createHash('sha256').update(readFileSync(join(folder, name))).digest('base64')]));
    writeFileSync(worker, [`const FILES = ${JSON.stringify(hashes)};`, ...rest].join('\n'));
}

test('the list of the service worker has every file that the page may ask for', () => {
    const [list] = readFileSync(join(dist, 'sw.js'), 'utf8').split('\n');
    const files = JSON.parse(list.slice(list.indexOf('{'), -1));
    for (const [name, hash] of Object.entries(files)) assert.equal(createHash('sha256').update(readFileSync(join(dist, name))).digest('base64'), hash, name);
    for (const needed of [/^index\.html$/, /\.wasm$/, /worker-/, /more-/, /placement-/, /evidence-/, /panel-/]) assert.ok(Object.keys(files).some((name) => needed.test(name)), `${needed}`);
    const size = Object.keys(files).reduce((sum, name) => sum + statSync(join(dist, name)).size, 0);
    assert.ok(size < 3.7e6, `${size} bytes`);
});

test('after the first visit all works without a network: another run, another language, parts that were never opened', { timeout: 900_000 }, () =>
    withHost(async (host) => {
        await whole(await host.open());
        await host.down();
        const page = await host.open(run);
        assert.ok((await plain(headline(page))).includes(used(answerOf('llama-70b-64-h100'))));
        await later(page, words.timeTable).click();
        await page.locator('.time-items').waitFor();
        await page.locator('#answer .prime[aria-haspopup=dialog]').click();
        await page.getByRole('dialog').waitFor();
        await page.keyboard.press('Escape');
        const placed = page.locator('#placement .acts button');
        await placed.click();
        await page.locator('#placement .drop textarea').waitFor();
        await page.locator('#language').selectOption('ja');
        await eventually('Japanese', () => plain(headline(page)), /[\u3040-\u30ff]/);
        const plainAddress = await host.open();
        await field(plainAddress, 'gpus').fill('64');
        await eventually('an answer', () => plainAddress.url(), /gpus=64/);
    }),
);

test('a newer build is offered to a tab that is open, and there at once for a new one', { timeout: 900_000 }, () =>
    withHost(async (host) => {
        const page = await host.open(run);
        await whole(page);
        newBuild(host.folder, 'second');
        // A stale file never hides what the network has.
        const other = await host.open();
        assert.equal(await build(other), 'second');
        assert.equal(await build(page), 'first');
        const notice = page.locator('.notices p', { hasText: say('notice.update') });
        await notice.waitFor();
        assert.equal(await other.locator('.notices p').count(), 0, 'it is the newest');
        await other.close();
        assert.equal(await build(page), 'first', 'nothing happens before the reader wants it');
        await Promise.all([page.waitForEvent('load'), notice.getByRole('button', { name: say('notice.reload') }).click()]);
        await settled(page);
        assert.equal(await build(page), 'second');
        assert.match(page.url(), /gpus=64/);
        assert.equal(await page.locator('.notices p').count(), 0);
        // What the network had is what is kept.
        await host.down();
        await page.reload();
        await settled(page);
        assert.equal(await build(page), 'second');
    }),
);

test('a newer build that is not whole is not kept: the older one stays, whole', { timeout: 900_000 }, () =>
    withHost(async (host) => {
        const page = await host.open();
        await whole(page);
        newBuild(host.folder, 'broken');
        const view = readdirSync(join(host.folder, 'assets')).find((name) => name.startsWith('boot-'));
        rmSync(join(host.folder, 'assets', view));
        const state = await page.evaluate(async () => {
            const registration = await navigator.serviceWorker.ready;
            await registration.update();
            const { installing } = registration;
            return new Promise((done) => installing.addEventListener('statechange', () => done(installing.state)));
        });
        assert.equal(state, 'redundant');
        await host.down();
        const again = await host.open(run);
        assert.equal(await build(again), 'first');
        assert.ok((await plain(headline(again))).includes(used(answerOf('llama-70b-64-h100'))));
        assert.equal(await again.locator('.notices p').count(), 0);
    }),
);
