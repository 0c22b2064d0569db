// Lighthouse over the built page, performance and accessibility; fails below 100:   cd web && npm run build && npm run lighthouse
// Not a part of ./check: its performance figure moves with whatever else the machine does (accessibility is checked there with axe).
// Lighthouse is fetched into build/lighthouse on first use: 200 packages that neither the page nor a test needs.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { serveFolder } from '../../.ci/static-server.mjs';
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

const { server, url } = await serveFolder(fileURLToPath(new URL('web/dist', root)), 0);
const chrome = await launch({
    chromePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    chromeFlags: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-background-networking', '--no-first-run'],
});
let worst = 100;
try {
    for (const preset of ['mobile', 'desktop']) {
        const settings = preset === 'desktop'
            ? { formFactor: 'desktop', screenEmulation: { mobile: false, width: 1350, height: 940, deviceScaleFactor: 1 }, throttling: { rttMs: 40, throughputKbps: 10240, cpuSlowdownMultiplier: 1 } }
            : {};
        const { lhr } = await lighthouse(url, { port: chrome.port, onlyCategories: ['performance', 'accessibility'], logLevel: 'error', ...settings });
        const scores = Object.values(lhr.categories).map(({ title, score }) => [title, Math.round(score * 100)]);
        console.log(`${preset}: ${scores.map(([title, score]) => `${title} ${score}`).join(', ')}`);
        worst = Math.min(worst, ...scores.map(([, score]) => score));
        for (const audit of Object.values(lhr.audits)) {
            const weight = Object.values(lhr.categories).flatMap((category) => category.auditRefs).find((ref) => ref.id === audit.id)?.weight;
            if (weight && audit.score !== null && audit.score < 0.9) console.log(`  ${audit.id}: ${audit.title} ${audit.displayValue ?? ''}`);
        }
    }
} finally {
    chrome.kill();
    server.close();
}
if (worst < 100) process.exitCode = 1;
