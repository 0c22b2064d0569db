// One Chromium for the browser tests, and pages in it that remember everything that went wrong.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './module.mjs';

const require = createRequire(new URL('web/package.json', root));   // the page's packages hold the tests' tools
const { chromium } = require('playwright-core');
export const axeFile = require.resolve('axe-core/axe.min.js');

// The one without windows does the same work in three quarters of the time; any other will do.
export const chromiumPath = [process.env.CHROMIUM, '/usr/bin/chromium-headless-shell', '/usr/bin/chromium', '/usr/bin/chromium-browser']
    .find((path) => path && existsSync(path));

// Without `serviceWorkers: 'allow'` nothing is kept from one page to the next.
export async function startChromium({ serviceWorkers = 'block' } = {}) {
    const profile = mkdtempSync(join(tmpdir(), 'fourfold-chromium-'));
    const browser = await chromium.launchPersistentContext(profile, {
        executablePath: chromiumPath,
        headless: true,
        serviceWorkers,
        locale: 'en-US',
        viewport: { width: 1280, height: 900 },
        args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-quic', '--no-first-run',
            '--disable-background-networking', '--disable-component-update', '--disable-sync'],
    });
    browser.setDefaultTimeout(180_000);   // a machine that does much else is slow, not wrong: nobody waits for it where all is well
    return {
        browser,
        async stop() {
            await browser.close();
            rmSync(profile, { recursive: true, force: true });
        },
    };
}

// What a test may change in a tab that no other address undoes.
const LASTING = ['addInitScript', 'exposeFunction', 'setExtraHTTPHeaders'];

// A new tab for a reader who wants every detail, or for one who comes for the first time. `show` opens an address in it, as often as one likes;
// `faults` fills with console errors and warnings, uncaught errors, violations of the Content-Security-Policy, failed answers and requests that
// leave the page's own origin. `allow`: from now on a place that may be asked, whatever it answers. `leave` ends what the page does;
// afterwards `isAsNew` says whether nothing of it is left but the steps of its history.
async function openTab(browser, depth) {
    const page = await browser.newPage();
    let faults = [], responses = [], origin = '';
    const asked = new Set();
    const mayBeAsked = (address) => URL.canParse(address) && asked.has(new URL(address).origin);
    page.on('console', (message) => {
        const own = message.text().startsWith('Service Worker registration blocked by Playwright') 
            || mayBeAsked(message.location().url) || [...asked].some((place) => message.text().startsWith(`Access to fetch at '${place}/`));
        if (['error', 'warning'].includes(message.type()) && !own) faults.push(`console: ${message.text()}`);
    });
    page.on('pageerror', (error) => faults.push(`uncaught: ${error.message}`));
    page.on('request', (request) => {
        const target = new URL(request.url());
        if (!['data:', 'blob:'].includes(target.protocol) && target.origin !== origin && !asked.has(target.origin)) faults.push(`left the origin: ${request.url()}`);
    });
    page.on('requestfailed', (request) => {
        const why = request.failure()?.errorText;
        // what was on its way when its page was left, or an instance ended while it starts, is no fault
        if (why !== 'net::ERR_ABORTED' && !mayBeAsked(request.url())) faults.push(`failed: ${request.url()} ${why}`);
    });
    page.on('response', (response) => {
        responses.push(response);
        if (response.status() >= 400 && !mayBeAsked(response.url())) faults.push(`${response.status()}: ${response.url()}`);
    });
    await page.addInitScript(() => {
        addEventListener('securitypolicyviolation', (event) => console.error(`CSP ${event.violatedDirective}: ${event.blockedURI}`));
    });
    if (depth === 'detail') await page.addInitScript(() => localStorage.getItem('fourfold-depth') ?? localStorage.setItem('fourfold-depth', 'detail'));
    let isAsNew = true;
    for (const name of LASTING) {
        const change = page[name].bind(page);
        page[name] = (...given) => {
            isAsNew = false;
            return change(...given);
        };
    }
    return {
        depth,
        page,
        async show(url, { width = 1280, height = 900, colorScheme = 'light' } = {}) {
            asked.clear();
            ({ origin } = new URL(url));
            [faults, responses] = [[], []];
            const shown = { page, faults, responses, allow: (place) => asked.add(place) };
            await page.setViewportSize({ width, height });
            await page.emulateMedia({ colorScheme, reducedMotion: 'reduce', media: null });
            await page.goto(url);
            return shown;
        },
        async leave() {
            await page.goto('about:blank');
            await page.unrouteAll({ behavior: 'ignoreErrors' });
            await page.mouse.move(0, 0);
        },
        isAsNew: () => isAsNew && !page.isClosed(),
    };
}

// One address in a tab of its own.
export const openPage = async (browser, url, { depth = 'detail', ...look } = {}) => (await openTab(browser, depth)).show(url, look);

// Tabs for one test after the other: a new one costs a third of what the page itself does, and is opened only where no other is free.
export function createTabs(browser) {
    const free = [];
    let taken = [];
    return {
        async open(url, { depth = 'detail', ...look } = {}) {
            const at = free.findIndex((tab) => tab.depth === depth);
            const tab = at < 0 ? await openTab(browser, depth) : free.splice(at, 1)[0];
            taken.push(tab);
            return tab.show(url, look);
        },
        // A test has ended. Where it went well, one tab of each kind serves the next; of the others nothing is kept.
        async free(wentWell) {
            const all = taken;
            taken = [];
            for (const tab of all) {
                if (!wentWell || !tab.isAsNew() || free.some(({ depth }) => depth === tab.depth)) await tab.page.close();
                else {
                    await tab.leave();
                    free.push(tab);
                }
            }
        },
    };
}
