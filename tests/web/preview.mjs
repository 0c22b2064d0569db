// Draws web/public/preview.png, the picture that a preview of a link shows: node tests/web/preview.mjs (after a change of its words or colours).
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { startChromium } from './chromium.mjs';
import { root } from './module.mjs';

const read = (path) => readFileSync(new URL(path, root), 'utf8');
const words = JSON.parse(read('web/src/words/en.json'));
const parts = ['weights', 'gradients', 'optimizer', 'activations', 'temporaries'];
// Of a bar without numbers: nothing here may be taken for an answer.
const widths = [9, 14, 24, 31, 5];

const page = `<!doctype html><style>${read('web/src/page/tokens.css')}
body { margin: 0; width: 1200px; height: 630px; box-sizing: border-box; padding: 72px; display: flex; flex-direction: column; background: var(--bg); color: var(--ink); font-family: system-ui, sans-serif; }
.name { display: flex; gap: 20px; align-items: center; font-size: 40px; font-weight: 650; }
h1 { margin: 56px 0 0; font-size: 68px; line-height: 1.12; font-weight: 640; letter-spacing: -0.02em; text-wrap: balance; }
.bar { margin-top: auto; display: flex; height: 88px; border: 3px solid var(--ink); background: var(--wash); }
.bar i { border-right: 3px solid var(--bg); }
${parts.map((part, i) => `.bar .${part} { width: ${widths[i]}%; background: var(--${part}); }`).join('\n')}
</style><div class="name"><svg viewBox="0 0 18 18" width="44" height="44"><path class="f-weights" d="M0 0h8v8H0z"/><path class="f-optimizer" d="M10 0h8v8h-8z"/>
<path class="f-activations" d="M0 10h8v8H0z"/><path class="f-temporaries" d="M10 10h8v8h-8z"/></svg>${words['page.name']}</div>
<h1>${words['page.question']}</h1><div class="bar">${parts.map((part) => `<i class="${part}"></i>`).join('')}</div>`;

const { browser, stop } = await startChromium();
const tab = await browser.newPage();
await tab.setViewportSize({ width: 1200, height: 630 });
await tab.setContent(page);
await tab.screenshot({ path: fileURLToPath(new URL('web/public/preview.png', root)) });
await stop();
