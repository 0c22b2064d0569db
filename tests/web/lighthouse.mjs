// Lighthouse over the built page, a link and an embedded answer; fails below what is asked:   cd web && npm run build && npm run lighthouse
// Not a part of ./check: its performance figure moves with whatever else the machine does (accessibility is checked there with axe).
// Lighthouse is fetched into build/lighthouse on first use: 200 packages that neither the page nor a test needs.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { serveFolder } from '../../.ci/static-server.mjs';
import { chromiumPath } from './chromium.mjs';
import { root } from './module.mjs';

const home = fileURLToPath(new URL('build/lighthouse/', root));
if (!existsSync(`${home}node_modules/lighthouse`)) {
    // third-party-web by name: one of Lighthouse's parts asks for "latest", which npm otherwise resolves to two versions.
    execFileSync('npm', ['install', '--prefix', home, '--no-audit', '--no-fund', '--loglevel=error', 'lighthouse@12.8.2', 'third-party-web'], { stdio: 'inherit' });
}
const require = createRequire(`${home}package.json`);
const load = (name) => import(pathToFileURL(require.resolve(name)));
const { default: lighthouse } = await load('lighthouse');
const { launch } = await load('chrome-launcher');

const { server, url } = await serveFolder(process.env.DIST ?? fileURLToPath(new URL('web/dist', root)), 0);
const chrome = await launch({
    chromePath: chromiumPath,
    chromeFlags: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-background-networking', '--no-first-run'],
});
// What people open: the page by itself, a link that asks something, and a page of somebody else's with an answer in it.
const LINK = '?v=2&model=llama-3.1-70b&gpu=h100-sxm-80gb&gpus=64';
const PAGES = { page: '', link: LINK, embedded: `embed.html${LINK}` };
const ASKED = { performance: 98, accessibility: 100, 'best-practices': 100, seo: 100 };
const LOOKS = {
    mobile: {},
    desktop: { formFactor: 'desktop', screenEmulation: { mobile: false, width: 1350, height: 940, deviceScaleFactor: 1 }, throttling: { rttMs: 40, throughputKbps: 10240, cpuSlowdownMultiplier: 1 } },
};
const only = process.argv.slice(2); // pages and looks by name; none: all
const chosen = (names) => Object.keys(names).filter((name) => !only.some((one) => one in names) || only.includes(name));
const figures = { 'largest-contentful-paint': 'largest paint', 'total-blocking-time': 'blocked', 'cumulative-layout-shift': 'shift', 'total-byte-weight': '' };

let missed = 0;
try {
    for (const page of chosen(PAGES)) {
        for (const look of chosen(LOOKS)) {
            const { lhr } = await lighthouse(url + PAGES[page], { port: chrome.port, onlyCategories: Object.keys(ASKED), logLevel: 'error', ...LOOKS[look] });
            const categories = Object.entries(lhr.categories).map(([id, { score }]) => [id, Math.round(score * 100)]);
            const measured = Object.entries(figures).map(([id, words]) => `${words} ${lhr.audits[id]?.displayValue}`.trim());
            console.log(`${page}, ${look}: ${categories.map(([id, score]) => `${id} ${score}`).join(', ')}; ${measured.join(', ')}`);
            missed += categories.filter(([id, score]) => score < ASKED[id]).length;
            const weights = new Map(Object.values(lhr.categories).flatMap(({ auditRefs }) => auditRefs.map(({ id, weight }) => [id, weight])));
            for (const { id, title, displayValue, score } of Object.values(lhr.audits))
                if (weights.get(id) && score !== null && score < 0.9) console.log(`  ${id}: ${title} ${displayValue ?? ''}`);
        }
    }
} finally {
    chrome.kill();
    server.close();
}
if (missed > 0) process.exitCode = 1;
