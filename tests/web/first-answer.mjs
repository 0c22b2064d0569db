// How long a reader waits for the first answer, and for how many bytes: cold cache, slow 4G, a slow processor.
//   node tests/web/first-answer.mjs [RUNS] [NETWORK: slow4g | none] [SLOWER: 4]
// For the page itself and for a link, each in a new tab: first paint, the answer, what was fetched before it, and when.
import { fileURLToPath } from 'node:url';
import { serveFolder } from '../../.ci/static-server.mjs';
import { startChromium } from './chromium.mjs';
import { root } from './module.mjs';
import { slowDown } from './slow.mjs';

const [runs = 3, network = 'slow4g', slower = 4] = process.argv.slice(2).map((text) => (Number.isNaN(Number(text)) ? text : Number(text)));
const LINK = '?v=1&model=llama-3.1-70b&gpu=h100-sxm-80gb&gpus=64';
const dist = process.env.DIST ?? fileURLToPath(new URL('web/dist/', root)); // another build, to compare
const served = await serveFolder(dist, 0, { base: '/fourfold/' });
const { browser, stop } = await startChromium();

// The model picker at the first paint, and once more when everything is there: from the press to the painted list.
async function press(page) {
    const opened = async () => {
        await page.waitForFunction(() => window.marks.opened !== undefined, null, { timeout: 120_000 });
        return page.evaluate(() => [window.marks.pressed, window.marks.opened].map(Math.round));
    };
    const first = await opened();
    await page.keyboard.press('Escape');
    await page.locator('html:not([data-filling]) .next').first().waitFor({ timeout: 120_000 });
    await page.evaluate(() => window.press());
    const later = await opened();
    await page.evaluate((taps) => { window.marks.taps = taps; }, [first, later]);
}

async function one(query) {
    const page = await browser.newPage();
    const { session, transfers } = await slowDown(page, { network, slower });
    await session.send('Network.setCacheDisabled', { cacheDisabled: false });
    await session.send('Network.clearBrowserCache');
    await page.addInitScript(() => {
        // The answer of a link stands when the title is that of its model, the page's own when the app has taken over.
        const watch = () => {
            if (window.marks.answer === undefined && document.title.includes('70B')) window.marks.answer = performance.now();
            if (window.marks.opened === undefined && document.querySelector('#model-list [role=option]')) window.marks.opened = performance.now();
            // The first press, in the frame after the first one with content: asked for from outside it would come when the page is quiet.
            if (document.getElementById('field-model') && document.styleSheets.length > 0) ++window.framesShown;
            if (!location.search && window.framesShown === 2) window.press();
            requestAnimationFrame(watch);
        };
        window.press = () => {
            const field = document.getElementById('field-model');
            window.marks.opened = undefined;
            field.focus();
            field.click();
        };
        window.marks = {};
        window.framesShown = 0;
        addEventListener('click', () => { if (window.marks.opened === undefined) window.marks.pressed = performance.now(); }, true);
        requestAnimationFrame(watch);
    });
    await page.goto(served.url + query, { waitUntil: 'commit' });
    if (query) await page.waitForFunction(() => window.marks.answer !== undefined, null, { timeout: 120_000 });
    else await press(page);
    const marks = await page.evaluate(() => ({
        ...window.marks,
        paint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime,
        load: performance.getEntriesByType('navigation')[0].loadEventEnd,
    }));
    const list = [...transfers.values()].map((one) => ({ ...one, file: new URL(one.url).pathname.replace('/fourfold/', '') || 'index.html' }));
    await page.close();
    return { marks, list };
}

for (const query of ['', LINK]) {
    console.log(`\n${query || 'the page itself'}`);
    const results = [];
    for (let run = 0; run < runs; ++run) results.push(await one(query));
    for (const { marks } of results) {
        if (marks.taps) console.log(`the picker: ${marks.taps.map(([from, to], i) => `${i ? 'later' : 'at first'} pressed at ${from} ms, open after ${to - from}`).join('; ')}`);
    }
    for (const { marks, list } of results) {
        const until = marks.answer ?? marks.load;
        const bytes = list.filter(({ end }) => end <= until).reduce((sum, one) => sum + one.bytes, 0);
        console.log(`paint ${Math.round(marks.paint)} ms, load ${Math.round(marks.load)}${marks.answer ? `, answer ${Math.round(marks.answer)}` : ''}; ${(bytes / 1024).toFixed(1)} KB until then`);
    }
    const { list } = results.at(-1);
    for (const { file, start, end, bytes } of list) console.log(`   ${String(Math.round(start)).padStart(6)} … ${String(Math.round(end)).padStart(6)} ms  ${(bytes / 1024).toFixed(1).padStart(6)} KB  ${file}`);
}
await stop();
served.server.closeAllConnections();
served.server.close();
