// The first touch counts: whatever a reader does before the page can calculate takes effect, by finger, mouse and keyboard, on slow 4G with
// a processor slowed down four times.   node --test tests/web/first-touch.test.mjs
// The module and the example are held back until the reader has acted, so that every action is a first one on any machine; then they
// come at the line's own pace. Nothing here waits for a time: only for what must become true.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { serveFolder } from '../../.ci/static-server.mjs';
import { startChromium } from './chromium.mjs';
import { root } from './module.mjs';
import { slowDown } from './slow.mjs';

const WAIT_MS = 180_000;
const LINK = '?v=1&model=llama-3.1-70b&gpu=a100-sxm-80gb&gpus=64&seq=4096&batch=512';

let served, chromium;
before(async () => {
    served = await serveFolder(fileURLToPath(new URL('web/dist/', root)), 0, { base: '/fourfold/' });
    chromium = await startChromium();
});
after(async () => {
    await chromium?.stop();
    served?.server.closeAllConnections();
    served?.server.close();
});

// A page at its first paint, with the model held back, and how to let it come.
async function open(query = '', { touch = false, slow = true, hold = /\.wasm|\/example-/ } = {}) {
    const page = await chromium.browser.newPage();
    page.setDefaultTimeout(WAIT_MS);
    const faults = [];
    page.on('pageerror', (error) => faults.push(error.message));
    page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
    const { session } = await slowDown(page, slow ? {} : { network: 'none', slower: 1 });
    await page.setViewportSize(touch ? { width: 390, height: 844 } : { width: 1280, height: 860 });
    if (touch) await session.send('Emulation.setTouchEmulationEnabled', { enabled: true });
    let release;
    const released = new Promise((done) => { release = done; });
    await page.route(hold, async (route) => {
        await released;
        await route.continue().catch(() => {});   // the page may be closed by now
    });
    await page.addInitScript(() => {
        // Every value that a painted frame has shown of the fields of the sentence.
        window.seen = {};
        const look = () => {
            for (const field of document.querySelectorAll('.sentence [id^="field-"]')) {
                const values = (window.seen[field.id] ??= []);
                if (values.at(-1) !== field.value && getComputedStyle(field).visibility === 'visible') values.push(field.value);
            }
            requestAnimationFrame(look);
        };
        requestAnimationFrame(look);
    });
    await page.goto(served.url + query, { waitUntil: 'commit' });
    await page.locator('.sentence').waitFor();
    await page.waitForFunction(() => performance.getEntriesByName('first-contentful-paint').length > 0 && document.readyState !== 'loading');
    return { page, session, release, faults };
}

const live = (page) => page.waitForFunction(() => !('filling' in document.documentElement.dataset), null, { timeout: WAIT_MS });
const holds = (page, what, condition, value) => page.waitForFunction(condition, value).catch((error) => assert.fail(`${what}: ${error.message}`));

function touchTest(name, options, body) {
    test(name, { timeout: 3 * WAIT_MS }, async () => {
        const one = await open(options.query, options);
        try {
            await body(one);
            assert.deepEqual(one.faults.filter((fault) => !options.faults?.test(fault)), []);
        } finally {
            one.release();
            await one.page.close();
        }
    });
}

const centre = async (page, selector) => {
    const target = page.locator(selector);
    await target.scrollIntoViewIfNeeded();
    const { x, y, width, height } = await target.boundingBox();
    return { x: x + width / 2, y: y + height / 2 };
};

// The same acts in three ways.
const ways = {
    touch: {
        touch: true,
        async press({ page, session }, selector) {
            const point = await centre(page, selector);
            await session.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [point] });
            await session.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
        },
        write: (one, selector, text) => ways.touch.press(one, selector).then(() => replaceText(one, selector, text)),
        choose: ({ page }, selector, value) => page.locator(selector).selectOption(value),
    },
    'a mouse that was not moved': {
        // Pressed where it happens to be: no movement before.
        async press({ page, session }, selector) {
            const point = await centre(page, selector);
            for (const type of ['mousePressed', 'mouseReleased']) await session.send('Input.dispatchMouseEvent', { type, button: 'left', clickCount: 1, ...point });
        },
        write: (one, selector, text) => ways['a mouse that was not moved'].press(one, selector).then(() => replaceText(one, selector, text)),
        choose: ({ page }, selector, value) => page.locator(selector).selectOption(value),
    },
    'the keyboard alone': {
        async press({ page }, selector) {
            await tabTo(page, selector);
            await page.keyboard.press('Enter');
        },
        async write(one, selector, text) {
            await tabTo(one.page, selector);
            await replaceText(one, selector, text);
        },
        async choose({ page }, selector, value) {
            await tabTo(page, selector);
            await page.keyboard.type((await page.locator(`${selector} option[value="${value}"]`).innerText()).slice(0, 12));
        },
    },
};
async function tabTo(page, selector) {
    const there = () => page.evaluate((wanted) => document.activeElement?.matches(wanted), selector);
    for (let i = 0; i < 60 && !(await there()); ++i) await page.keyboard.press('Tab');
    assert.ok(await there(), `Tab does not reach ${selector}`);
}
async function replaceText({ page }, selector, text) {
    await holds(page, 'focus', (wanted) => document.activeElement?.matches(wanted), selector);
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.type(text);
}

for (const [way, { touch = false, press, write, choose }] of Object.entries(ways)) {
    describe(`before the page can calculate, by ${way}`, () => {
        touchTest('the model picker opens, and shows meanwhile that it was taken; the model chosen in it is taken', { touch }, async (one) => {
            const { page, release } = one;
            await press(one, '#field-model');
            assert.equal(await page.locator('#field-model').getAttribute('aria-busy'), 'true');
            const entries = page.getByRole('listbox').getByRole('option');
            assert.equal(await entries.count(), 0);
            release();
            await entries.filter({ hasText: 'Llama 3.1 70B' }).waitFor();
            assert.equal(await page.locator('#field-model').getAttribute('aria-busy'), null);
            await page.locator('#field-model').fill('3.1 70');
            await entries.filter({ hasText: 'Llama 3.1 70B' }).click();
            await holds(page, 'the answer', () => /does not fit/.test(document.querySelector('h1').textContent));
        });

        touchTest('a number typed, a GPU chosen and Share pressed: in this order, and no field falls back', { touch }, async (one) => {
            const { page, release } = one;
            await write(one, '#field-gpus', '16');
            await choose(one, '#field-gpu', 'a100-sxm-80gb');
            await press(one, '#answer .prime');
            assert.equal(await page.locator('#field-gpus').inputValue(), '16');
            release();
            const dialog = page.locator('dialog[open]');
            assert.match(await dialog.locator('svg').getAttribute('aria-label'), /16.×.A100 SXM 80 GB/);
            assert.match(await dialog.locator('input').inputValue(), /gpu=a100-sxm-80gb&gpus=16/);
            await page.keyboard.press('Escape');
            const seen = await page.evaluate(() => window.seen);
            await live(page);
            assert.equal(await page.locator('#field-gpus').inputValue(), '16');
            assert.equal(await page.locator('#field-gpu').inputValue(), 'a100-sxm-80gb');
            assert.deepEqual(seen['field-gpus'].filter((value) => !['8', '1', '16', ''].includes(value)), []);
            assert.equal(seen['field-gpus'].lastIndexOf('8') > seen['field-gpus'].indexOf('16'), false, `${seen['field-gpus']}`);
            assert.match(page.url(), /gpu=a100-sxm-80gb&gpus=16/);
        });

        touchTest('a question leads to its section, which stays there while the page fills', { touch }, async (one) => {
            const { page, release } = one;
            // At the top of the window, below the line that stays there, or as near to it as the end of the page allows.
            const shown = (id) => holds(page, `#${id}`, (wanted) => {
                const { top } = document.getElementById(wanted)?.getBoundingClientRect() ?? { top: NaN };
                const end = document.documentElement.scrollHeight - innerHeight - scrollY;
                return (top > 0 && top < 80) || (end < 4 && top > 0 && top < innerHeight);
            }, id);
            await page.emulateMedia({ reducedMotion: 'reduce' });
            await press(one, '.next a[href="#placement"]');
            release();
            await live(page);
            // the page has filled: the ranking stands, or its room is closed, as on a phone
            await page.locator('#plans').locator('[role="grid"], [aria-expanded="false"]').first().waitFor();
            await shown('placement');
        });
    });
}

describe('a link', () => {
    touchTest('shows its own sentence at once, and no other answer', { query: LINK, touch: true }, async ({ page, release }) => {
        await page.getByText('Computing…').waitFor();
        const texts = await page.locator('.sentence [id^="field-"]').evaluateAll((all) => all.map((field) => field.selectedOptions?.[0].text ?? field.value));
        assert.deepEqual(texts, ['Llama 3.1 70B', '64', 'A100 SXM 80 GB', '4,096', '512', '']);
        assert.equal(await page.locator('h1').isVisible(), false);
        assert.equal(await page.title(), 'Fourfold');
        release();
        await holds(page, 'the answer', () => document.title.includes('Llama 3.1 70B on 64'));
        assert.match(await page.locator('h1').innerText(), /of its 80.GB/);
        assert.equal(await page.getByText('Computing…').count(), 0);
        const seen = await page.evaluate(() => window.seen);
        assert.deepEqual(Object.values(seen), [['Llama 3.1 70B'], ['64'], ['a100-sxm-80gb'], ['4,096'], ['512'], ['']], 'no painted frame showed another value');
    });

    touchTest('to what is not known keeps its words, and they can be changed at once', { query: '?v=1&model=nobody-s-model&gpu=h900&gpus=8e3' }, async (one) => {
        const { page, release } = one;
        const texts = () => page.locator('.sentence [id^="field-"]').evaluateAll((all) => all.slice(0, 3).map((field) => field.selectedOptions?.[0].text ?? field.value));
        assert.deepEqual(await texts(), ['nobody-s-model', '8e3', 'h900?']);
        await page.locator('#field-gpus').fill('24');
        release();
        await page.locator('.problems').waitFor();
        assert.deepEqual(await texts(), ['nobody-s-model', '24', 'h900?']);
    });

    touchTest('whose module cannot be had says so, and shows no other answer', { query: LINK, slow: false, hold: /nothing/, faults: /404|Failed to load/ }, async ({ page }) => {
        await page.route('**/*.wasm', (route) => route.fulfill({ status: 404, body: '' }));
        await page.reload();
        await page.getByRole('alert').waitFor();
        assert.equal(await page.locator('h1').isVisible(), false);
        assert.equal(await page.locator('#field-model').inputValue(), 'Llama 3.1 70B');
    });
});

describe('a worker that dies', () => {
    // The first worker is that of the estimates. `dying` runs in it.
    const lose = async (page, dying) => {
        await live(page);
        await page.workers()[0].evaluate(dying);
    };
    const headlineOf = (page, gpus) => holds(page, `${gpus} GPUs`, (wanted) => document.title.includes(`on ${wanted}`), gpus);

    touchTest('while nothing is asked is replaced without a word', { slow: false, hold: /nothing/ }, async ({ page }) => {
        await lose(page, () => close());
        await page.locator('#field-gpus').fill('16');
        await headlineOf(page, 16);
        assert.equal(await page.locator('.notices').innerText(), '');
    });

    touchTest('while it is asked is asked again, once; a second death is said', { slow: false, hold: /nothing/ }, async ({ page }) => {
        await lose(page, () => { globalThis.postMessage = () => close(); });
        await page.locator('#field-gpus').fill('16');
        await headlineOf(page, 16);
        assert.equal(await page.locator('.notices').innerText(), '');
        // From now on no worker ever answers.
        await page.evaluate(() => {
            const Before = Worker;
            globalThis.Worker = class extends Before {
                postMessage(message) { if (typeof message?.id === 'number') this.dispatchEvent(new ErrorEvent('error', { message: 'ended' })); else super.postMessage(message); }
            };
        });
        // Some end meanwhile by themselves.
        for (const worker of page.workers()) await worker.evaluate(() => { globalThis.postMessage = () => close(); }).catch(() => {});
        await page.locator('#field-gpus').fill('32');
        await page.getByText(/stopped and was started again/).waitFor();
    });

    touchTest('does not die of a message that says nothing', { slow: false, hold: /nothing/ }, async ({ page }) => {
        await live(page);
        const answered = await page.evaluate(async () => {
            const file = performance.getEntriesByType('resource').map(({ name }) => name).find((name) => /worker-/.test(name));
            const worker = new Worker(file, { type: 'module' });
            const module = await boot.module();
            return new Promise((done) => {
                worker.onerror = () => done('error');
                worker.onmessage = ({ data }) => data.id === 7 && done('answer');
                for (const message of [null, undefined, 'text', 3, {}, { id: 'x' }, module, { id: 7, call: 'catalog', text: '' }]) worker.postMessage(message);
            });
        });
        assert.equal(answered, 'answer');
    });
});
