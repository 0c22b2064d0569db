// What search engines and previews of links read: the head of the page, and the pages of the catalogue, two of which are built here.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { fileURLToPath } from 'node:url';
import { serveFolder } from '../../../.ci/static-server.mjs';
import { root } from '../module.mjs';
import { dist, load, openRooms, pageTest, settled } from './browser.mjs';
import { headline, plain } from './find.mjs';
import { everyLook } from './looks.mjs';
import { asked, catalog, grouped, three } from './numbers.mjs';
import { say } from './said.mjs';

const SITE = 'https://example.org/fourfold/';
const MOST = 15 * 1024; // bytes of a page
const made = [
    ['llama-3.1-8b', 'h100-sxm-80gb'],
    ['tinyllama-1.1b', 'a100-sxm-40gb'], // its sequences are short
];

let folder, served;
before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'fourfold-pages-'));
    cpSync(dist, folder, { recursive: true });
    execFileSync('npm', ['--prefix', fileURLToPath(new URL('web', root)), 'run', '--silent', 'pages', '--', '--outDir', folder], {
        env: { ...process.env, FOURFOLD_SITE: SITE, FOURFOLD_PAGES: made.map((names) => names.join('/')).join(',') },
        stdio: 'pipe',
    });
    served = await serveFolder(folder, 0, { base: '/fourfold/' });
});
after(() => {
    served?.server.closeAllConnections();
    served?.server.close();
    rmSync(folder, { recursive: true, force: true });
});

const html = (path) => readFileSync(join(folder, path, 'index.html'), 'utf8');
const textOf = (path) => html(path).replace(/^[\s\S]*<body>/, '').replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');

pageTest('a link’s preview says what the page is for, not what its example says', async () => {
    const head = readFileSync(`${dist}index.html`, 'utf8').replace(/<body>[\s\S]*/, '');
    assert.match(head, new RegExp(`<title>${say('page.question').replace('?', '\\?')} – Fourfold</title>`));
    assert.doesNotMatch(head, /Llama|fits:/);
    const picture = readFileSync(`${dist}preview.png`);
    assert.deepEqual([picture.readUInt32BE(16), picture.readUInt32BE(20)], [1200, 630]);
});

for (const [model, gpu] of made) {
    pageTest(`${model} on ${gpu}: the page says what the core says`, async () => {
        const path = `m/${model}/${gpu}/`;
        const { models, gpus } = await catalog();
        const profile = models.find(({ id }) => id === model);
        const { label } = gpus.find(({ id }) => id === gpu);
        const job = { model, gpu, sequence_length: Math.min(8192, profile.max_position_embeddings), token_budget: 20 * profile.parameters };
        const { fewest_gpus: fewest } = await asked('limits', job);
        const text = textOf(path);
        assert.ok(text.includes(`needs at least ${grouped(fewest.gpus)} GPU${fewest.gpus > 1 ? 's' : ''} of the kind ${label}.`), text.slice(0, 300));
        for (const count of [64, 256, 1024]) {
            const { time, class: fit } = await asked('estimate', { ...job, gpus: count });
            const hours = three(time.run.gpu_hours);
            assert.ok(text.includes(`${grouped(count)} GPUs ${say(`answer.${fit}`)}`), `${count} in ${text}`);
            assert.ok(text.includes(hours), `${hours} GPU-hours in ${text}`);
        }
        assert.ok(html(path).length <= MOST, `${html(path).length} bytes`);
        assert.match(html(path), new RegExp(`<link rel="canonical" href="${SITE}${path}" />`));
        assert.match(html(path), new RegExp(`<meta property="og:image" content="${SITE}preview.png" />`));
        assert.match(html(path), /<meta name="description" content="Training /);
        assert.doesNotMatch(html(path), /<script/);
    });
}

pageTest('the pages in every look; a number of GPUs opens the whole page on that run', async (t) => {
    const { page } = await load(`m/${made[0].join('/')}/`, { at: served.url });
    await everyLook(t, page, 'a page of the catalogue');
    await page.getByRole('link', { name: '64 GPUs' }).click();
    assert.match(page.url(), /\?v=2&model=llama-3\.1-8b&.*gpus=64/);
    await settled(page);
    await openRooms(page);
    await page.locator('#plans [role=grid]').waitFor();
    assert.match(await plain(headline(page)), /^It fits\./);
    const list = await load('m/', { at: served.url });
    await everyLook(t, list.page, 'the list of them');
    await list.page.locator('td a').first().click();
    assert.match(list.page.url(), /\/m\/[\w.-]+\/[\w.-]+\/$/);
});

pageTest('the sitemap names the page, the list and every page of it', async () => {
    const map = readFileSync(join(folder, 'sitemap.xml'), 'utf8');
    const places = [...map.matchAll(/<loc>([^<]*)<\/loc>/g)].map(([, place]) => place);
    assert.deepEqual(places, [SITE, ...made.map((names) => `${SITE}m/${names.join('/')}/`), `${SITE}m/`]);
});
