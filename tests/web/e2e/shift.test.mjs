// Nothing moves under a reader's eyes while a link's answer, and what follows from it, comes.
import assert from 'node:assert/strict';
import { load, pageTest, settled } from './browser.mjs';

const MOST = 0.05; // of the cumulative layout shift; 0.1 counts as good
const LINKS = {
    'the example': '',
    'one that fits': '?model=llama-3.1-70b&gpu=h100-sxm-80gb&gpus=64',
    'one that does not fit': '?model=llama-3.1-405b&gpu=h100-sxm-80gb&gpus=8',
    'a plan of the reader’s own that does not fit': '?model=llama-3.1-70b&gpu=h100-sxm-80gb&gpus=8&tp=2',
    'a name that may mean several GPUs': '?model=llama-3.1-70b&gpu=h100&gpus=64',
    'a number that is none': '?model=llama-3.1-70b&gpu=h100-sxm-80gb&gpus=abc',
    'every detail': '?model=llama-3.1-70b&gpu=h100-sxm-80gb&gpus=64&depth=detail',
    'every detail of one that does not fit': '?model=llama-3.1-405b&gpu=h100-sxm-80gb&gpus=8&depth=detail',
};

// What moved, and by how much, since the page began.
const shifts = () =>
    new Promise((done) => {
        const watch = new PerformanceObserver((list) => {
            watch.disconnect();
            done(list.getEntries().map(({ value, sources }) => [value, ...sources.map(({ node }) => node?.outerHTML?.slice(0, 60) ?? node?.textContent)]));
        });
        watch.observe({ type: 'layout-shift', buffered: true });
        setTimeout(() => done([]), 500);
    });

for (const [what, link] of Object.entries(LINKS))
    for (const [width, height] of [
        [1280, 800],
        [390, 844],
    ])
        pageTest(`${what}, ${width} px: nothing moves when its answer comes`, async () => {
            const { page } = await load(link, { depth: 'plain', width, height });
            await page.mouse.move(2, 2);
            await settled(page);
            await page.locator('html:not([data-filling])').waitFor({ state: 'attached' });
            const all = await page.evaluate(shifts);
            const sum = all.reduce((total, [value]) => total + value, 0);
            assert.ok(sum < MOST, `${sum.toFixed(3)}: ${JSON.stringify(all.filter(([value]) => value > 0.005))}`);
        });
