// What every file of these tests starts with: the built page, served below a path as GitHub Pages does and with the strict
// Content-Security-Policy, one Chromium for the file, and pages that must end without fault (chromium.mjs says what a fault is).
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { serveFolder } from '../../../.ci/static-server.mjs';
import { createTabs, startChromium } from '../chromium.mjs';
import { root } from '../module.mjs';

// Long enough for a machine that does much else; nobody waits for it where all is well.
const WAIT_MS = 180_000;
const POLL_MS = 30;

export const dist = fileURLToPath(new URL('web/dist/', root));

let served,
    chromium,
    tabs,
    opened = [],
    tried = false,
    answered = false;
before(async () => {
    served = await serveFolder(dist, 0, { base: '/fourfold/' });
    chromium = await startChromium();
    tabs = createTabs(chromium.browser);
});
after(async () => {
    await chromium?.stop();
    served?.server.closeAllConnections();
    served?.server.close();
});

// A test with pages that are left at its end, when they must have been without fault. The body gets the test, for steps of its own.
export function pageTest(name, body) {
    test(name, { timeout: 5 * WAIT_MS }, async (t) => {
        opened = [];
        let wentWell = false;
        try {
            await body(t);
            for (const { faults } of opened) assert.deepEqual(faults, []);
            wentWell = true;
        } finally {
            await tabs.free(wentWell);
        }
    });
}

// The page as a link opens it, before anybody has touched it: {page, faults, responses, allow}. `at`: the address of another page than the one served.
export async function load(query = '', { at = served.url, ...options } = {}) {
    const one = await tabs.open(at + query, options);
    opened.push(one);
    return one;
}

export async function open(query = '', options = {}) {
    // A page that never answers costs a file its waiting time once, not once for each test.
    assert.ok(answered || !tried, 'the first page of this file never answered');
    tried = true;
    const { page } = await load(query, options);
    await page.mouse.move(2, 2); // the first sign of a reader, with which the module comes
    await settled(page);
    answered = true;
    await openRooms(page);
    return page;
}

// Another link in the same tab.
export async function follow(page, query) {
    await page.goto(served.url + query);
    await settled(page);
    await openRooms(page);
}

export async function reload(page) {
    await page.reload();
    await settled(page);
    await openRooms(page);
}

// A tab whose faults are the test's own business.
export async function bareTab(body) {
    const page = await chromium.browser.newPage();
    try {
        await body(page, served.url);
    } finally {
        await page.close();
    }
}

// The module has answered: there is a map of plans, or the reason why there is none.
// On the first screen, and on a phone, where rooms are closed: once its questions have their answers.
export const settled = (page) =>
    page.locator('#plans [role=grid], .problems, #plans .empty, html:not([data-filling]) :is(.next, .room-door)').first().waitFor();

// On a phone the headings of rooms open them.
export async function openRooms(page) {
    const closed = page.locator('.room-door[aria-expanded=false]').first();
    while ((await closed.count()) > 0) await closed.click();
}

// Waits until a condition on the page holds; on failure says what was there instead.
export async function eventually(what, read, wanted) {
    const holds = (value) =>
        wanted instanceof RegExp ? wanted.test(value) : typeof wanted === 'function' ? wanted(value) : value === wanted;
    let value;
    for (const end = Date.now() + WAIT_MS; Date.now() < end; await new Promise((next) => setTimeout(next, POLL_MS))) {
        value = await read();
        if (holds(value)) return value;
    }
    assert.fail(`${what}: ${wanted} was expected, last seen ${JSON.stringify(value)}`);
}
