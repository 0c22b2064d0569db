// An answer in the page of somebody else: <fourfold-answer> and ?embed.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { after, before } from 'node:test';
import { gzipSync } from 'node:zlib';
import { bareTab, dist, eventually, pageTest } from './browser.mjs';
import { plain } from './find.mjs';
import { violations } from './looks.mjs';
import { answerOf } from './numbers.mjs';
import { say } from './said.mjs';

// Everything that a frame fetches before the module, gzip -9.
const LIMIT = 80 * 1024;

let host;
before(async () => {
    // Another origin, without any policy: most pages of the world.
    host = createServer(({ url }, response) => {
        response.setHeader('Content-Type', 'text/html; charset=utf-8');
        response.end(hostPage(new URL(url, 'http://host').searchParams));
    });
    await new Promise((done) => host.listen(0, '127.0.0.1', done));
});
after(() => {
    host?.closeAllConnections();
    host?.close();
});

const big = 'model="llama-3.1-70b" gpu="h100-sxm-80gb" gpus="64" token_budget="1e12" price="2.5"';
const small = 'model="llama-3.1-8b" sequence_length="4096" gpus="8"';
const hostPage = (params) => `<!doctype html><html lang="en"><head><title>Host</title><meta name="viewport" content="width=device-width">
<style>html{color-scheme:${params.get('scheme') ?? 'light'}} body.night{background:#111;color:#eee}</style>
<script type="module" src="${params.get('page')}embed.js"></script></head><body><main><h1>Host</h1>
<fourfold-answer id="one" ${params.get('one') ?? big}><a href="#">Fallback</a></fourfold-answer>
<fourfold-answer id="two" ${small}></fourfold-answer></main></body></html>`;

// A tab with the host's page; the body gets both frames once they show their answers.
const inHost = (more, body) =>
    bareTab(async (page, url) => {
        const faults = [];
        page.on('console', (message) => ['error', 'warning'].includes(message.type()) && faults.push(message.text()));
        page.on('pageerror', ({ message }) => faults.push(message));
        page.on('response', (response) => response.status() >= 400 && !response.url().endsWith('favicon.ico') && faults.push(response.url()));
        const address = `http://127.0.0.1:${host.address().port}/?${new URLSearchParams({ page: url, ...more })}`;
        await page.emulateMedia({ reducedMotion: 'reduce' });
        await page.goto(address);
        const frames = [];
        for (const id of ['one', 'two']) {
            const frame = page.frameLocator(`#${id} iframe`);
            await frame.locator('.summary').waitFor();
            frames.push(frame);
        }
        await body({ page, url, address, frames });
        assert.deepEqual(
            faults.filter((text) => !/favicon|target origin provided/.test(text)), // the host has no icon; axe speaks to the page around a frame
            [],
        );
    });

const heights = (page) =>
    page.locator('fourfold-answer').evaluateAll((all) => all.map((one) => one.shadowRoot.querySelector('iframe').getBoundingClientRect().height));
const contents = (frames) => Promise.all(frames.map((frame) => frame.locator('#embedded').evaluate((one) => one.getBoundingClientRect().height)));

pageTest('two answers in a page of another origin: each says its own, as tall as it is, in every width', () =>
    inHost({}, async ({ page, frames }) => {
        const golden = answerOf('llama-70b-64-h100');
        const [one, two] = await Promise.all(frames.map((frame) => plain(frame.locator('#embedded'))));
        assert.match(one, /^It fits\. Llama 3\.1 70B on 64 × H100 SXM 80 GB with 8,192-token sequences fits: /);
        assert.match(one, /1 trillion tokens: .* Cost: /);
        assert.match(two, /Llama 3\.1 8B on 8 × H100 SXM 80 GB with 4,096-token sequences fits: /);
        assert.equal(golden.card_bytes, 80 * 2 ** 30);
        for (const width of [320, 390, 1280]) {
            await page.setViewportSize({ width, height: 900 });
            await eventually(`heights at ${width} px`, async () => JSON.stringify([await heights(page), (await contents(frames)).map(Math.ceil)]), (text) => {
                const [shown, needed] = JSON.parse(text);
                return shown.every((height, i) => height === needed[i] && height > 150);
            });
            for (const frame of frames)
                assert.ok(await frame.locator('html').evaluate(({ scrollWidth, clientWidth, scrollHeight, clientHeight }) => scrollWidth <= clientWidth && scrollHeight <= clientHeight));
        }
    }),
);

pageTest('the default run says the golden sentence', () =>
    inHost({ one: 'model="llama-3.1-8b"' }, async ({ frames }) => {
        assert.ok((await plain(frames[0].locator('.summary'))).includes(`${Math.round(answerOf('default').whole_bytes / 2 ** 30)} of 80 GB`));
    }),
);

pageTest('the host keeps its address and its history; another run takes the place of the first', () =>
    inHost({}, async ({ page, address, frames }) => {
        const before = await page.evaluate(() => history.length);
        await page.locator('#one').evaluate((element) => element.setAttribute('gpus', '128'));
        await frames[0].locator('.summary', { hasText: '128' }).waitFor();
        assert.equal(page.url(), address);
        assert.equal(await page.evaluate(() => history.length), before);
        const link = frames[0].getByRole('link', { name: say('embed.whole') });
        assert.deepEqual(await link.evaluate(({ target, rel }) => [target, rel]), ['_blank', 'noopener']);
        assert.match(await link.getAttribute('href'), /^\.\/\?v=2&model=llama-3\.1-70b&.*gpus=128.*tokens=1000000000000/);
    }),
);

for (const scheme of ['light', 'dark']) {
    pageTest(`axe finds nothing in a ${scheme} host, and the frames have its colours and a title`, () =>
        inHost({ scheme }, async ({ page }) => {
            const inFrames = page.frames().filter((frame) => frame !== page.mainFrame());
            assert.equal(inFrames.length, 2);
            for (const frame of [page, ...inFrames]) assert.deepEqual(await violations(frame), []);
            const dark = await inFrames[0].evaluate(() => getComputedStyle(document.body).backgroundColor);
            assert.equal(dark, scheme === 'dark' ? 'rgb(19, 21, 23)' : 'rgb(252, 252, 250)');
            const titles = () => page.locator('fourfold-answer').evaluateAll((all) => all.map((one) => one.shadowRoot.querySelector('iframe').title).join('|'));
            await eventually('titles', titles, /^Llama 3\.1 70B on .*\|Llama 3\.1 8B on /);
        }),
    );
}

pageTest('a host that turns dark takes its frames along', () =>
    inHost({}, async ({ page, frames }) => {
        const colours = () => Promise.all(frames.map((frame) => frame.locator('body').evaluate((body) => getComputedStyle(body).backgroundColor))).then(String);
        assert.equal(await colours(), 'rgb(252, 252, 250),rgb(252, 252, 250)');
        await page.evaluate(() => document.body.classList.add('night'));
        await eventually('dark', colours, 'rgb(19, 21, 23),rgb(19, 21, 23)');
    }),
);

pageTest('a theme that the host’s page chooses', () =>
    inHost({ one: `${big} theme="dark"` }, async ({ page }) => {
        const frame = page.frames().find((one) => one.url().includes('theme=dark'));
        assert.equal(await frame.evaluate(() => getComputedStyle(document.body).backgroundColor), 'rgb(19, 21, 23)');
    }),
);

pageTest('a run that cannot work says why', () =>
    inHost({ one: 'model="llama-3.1-8b" gpus="7" tp="3"' }, async ({ frames }) => {
        assert.equal(await plain(frames[0].locator('.verdict')), say('answer.cannot'));
        assert.match(await plain(frames[0].locator('.summary')), /cannot work: /);
    }),
);

pageTest('a frame stays within its budget, and ?embed leads to it without a step of the history', () =>
    bareTab(async (page, url) => {
        // The small page comes once the scripts of the one that leads to it are there: nothing large is on its way to that one, which is left at
        // once. (What is broken off then is an error in Firefox, where a service worker answers it.)
        const asked = [];
        const came = [];
        page.on('request', (request) => asked.push(request.url()));
        page.on('requestfinished', (request) => came.push(request.url()));
        await page.route('**/embed.html*', async (route) => {
            await eventually('the script', () => came.some((address) => /index-.*\.js$/.test(address)), true);
            assert.deepEqual(asked.filter((address) => address.endsWith('.wasm')), []);
            await route.continue();
        });
        await page.goto(`${url}?embed=1&v=2&model=llama-3.1-8b&gpus=8`);
        await page.locator('.embedded .summary').waitFor();
        assert.match(page.url(), /\/embed\.html\?embed=1&v=2/);
        assert.equal(await page.evaluate(() => history.length), 2); // the empty tab and this
        const names = await page.evaluate(() => [
            'embed.html',
            'embed.js',
            ...performance.getEntriesByType('resource').map(({ name }) => name.split('/fourfold/')[1]),
        ]);
        const sizes = [...new Set(names)].filter((name) => !name.endsWith('.wasm')).map((name) => [name, gzipSync(readFileSync(dist + name), { level: 9 }).length]);
        const total = sizes.reduce((sum, [, size]) => sum + size, 0);
        console.log(`embedded, before the module: ${(total / 1024).toFixed(1)} KB of ${LIMIT / 1024} KB`, sizes.map(([name, size]) => `${name} ${(size / 1024).toFixed(1)}`).join(', '));
        assert.ok(total <= LIMIT);
        assert.ok(sizes.length >= 6);
    }),
);

pageTest('a frame brings no words that it never says: those of every detail are there once for each language', () => {
    const files = readdirSync(`${dist}assets`);
    for (const part of ['help', 'formulas', 'phases', 'evidence', 'placement', 'run', 'formats'])
        assert.equal(files.filter((name) => new RegExp(`^${part}-[\\w-]{8}\\.js$`).test(name)).length, 3, part);
    assert.equal(files.filter((name) => /^names-[\w-]{8}\.js$/.test(name)).length, 6);
});

pageTest('a frame shows a model that the page’s list lacks, by its name', () =>
    inHost({ one: 'model="gemma-2b" gpu="h100-sxm-80gb" gpus="8"' }, async ({ frames: [frame] }) => {
        assert.match(await plain(frame.locator('.embedded')), /gemma-2b on 8 × H100/);
    }),
);
