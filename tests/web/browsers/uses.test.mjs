// What people do with the page, in the browsers that are not Chromium (tests/web/e2e asks that one everything): the built page under the strict policy.
//   apt-get install firefox-esr webkit2gtk-driver xvfb     then    node --test tests/web/browsers/*.test.mjs
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { serveFolder } from '../../../.ci/static-server.mjs';
import { slowLinks } from '../e2e/few-nodes.mjs';
import { root } from '../module.mjs';
import { browsers } from './webdriver.mjs';

const WAIT_MS = 180_000;
const POLL_MS = 50;
const TEST_MS = 5 * WAIT_MS;

const dist = fileURLToPath(new URL('web/dist/', root));
const single = new URL('build/single/fourfold.html', root);
const link = '?v=2&model=llama-3.1-70b&gpus=64&tp=8&pp=4&cp=1&mb=1';
const config = { model_type: 'llama', hidden_size: 2048, intermediate_size: 5632, num_hidden_layers: 22, num_attention_heads: 32, num_key_value_heads: 4, vocab_size: 32000, max_position_embeddings: 2048 };

const text = (selector) => document.querySelector(selector)?.innerText.replace(/\s+/g, ' ').trim() ?? '';
const value = (selector) => document.querySelector(selector)?.value ?? '';
// As if it came from the clipboard or a long press: the field gets it in one piece.
const insert = (selector, given) => {
    const field = document.querySelector(selector);
    field.focus();
    field.select();
    document.execCommand('insertText', false, given);
};
const isThere = (selector) => document.querySelector(selector) !== null;
const isReady = () => !('filling' in document.documentElement.dataset) && document.querySelector('#answer h1 .verdict') !== null;

async function eventually(what, read, wanted) {
    let last;
    for (const end = Date.now() + WAIT_MS; Date.now() < end; await new Promise((next) => setTimeout(next, POLL_MS))) {
        last = await read();
        if (wanted instanceof RegExp ? wanted.test(last) : last === wanted) return last;
    }
    assert.fail(`${what}: ${wanted} was expected, last seen ${JSON.stringify(last)}`);
}

before(() => execFileSync('npm', ['--prefix', fileURLToPath(new URL('web', root)), 'run', '--silent', 'single'], { stdio: 'pipe' }));

for (const { name, needs, start } of browsers) {
    describe(name, () => {
        let browser, served;
        before(async () => {
            served = await serveFolder(dist, 0, { base: '/fourfold/' });
            browser = await start().catch((error) => assert.fail(`${name} does not start (Debian: apt-get install ${needs}): ${error.message}`));
        });
        after(async () => {
            await browser?.close();
            served?.server.closeAllConnections();
            served?.server.close();
        });

        const run = (...args) => browser.run(...args);
        const open = async (query = '', at = served.url) => {
            await browser.size(1280, 900);
            await browser.goto(at + query);
            await eventually('the page', () => run(isThere, '.sentence'), true);
            await browser.move(2, 2); // the first sign of a reader, with which the module comes
            await eventually('the first answer', () => run(isReady), true);
        };
        const use = (what, body) =>
            test(what, { timeout: TEST_MS }, async () => {
                await browser.goto('about:blank'); // what the page before still loads ends here, and is no fault of this use
                browser.faults.length = 0;
                await body();
                assert.deepEqual(browser.faults, []);
            });
        const asks = (id) => browser.tap(`.next a[href="#${id}"]`);

        use('answer: a number typed changes it, and the address', async () => {
            await open();
            const first = await run(text, '#answer h1');
            await browser.tap('#field-gpus');
            await browser.type('64');
            await eventually('the address', () => run(() => location.search), /gpus=64/);
            await eventually('another answer', async () => (await run(text, '#answer h1')) !== first, true);
            await eventually('days', () => run(text, '#answer .tiles'), /days|hours/);
        });

        use('a model: typed over the one that stands there, chosen by Enter', async () => {
            await open();
            await browser.tap('#field-model');
            await browser.type('405b');
            await eventually('what was typed', () => run(value, '#field-model'), '405b');
            await browser.press('Enter');
            await eventually('the address', () => run(() => location.search), /model=llama-3\.1-405b/);
            await eventually('the verdict', () => run(isThere, '#answer h1 .verdict.does_not_fit'), true);
        });

        use('what does not fit: the first change that is offered makes it fit, by one tap', async () => {
            await open('?v=2&model=llama-3.1-70b&gpus=16');
            await eventually('what to change', () => run(text, '#answer .changes li'), /fits/);
            await browser.tap('#answer .changes li button');
            await eventually('the verdict', () => run(isThere, '#answer h1 .verdict.fits'), true);
        });

        use('a link: its own run, at 447 px too, with nothing wider than the screen', async () => {
            await open(link);
            assert.match(await run(() => document.title), /Llama 3\.1 70B on 64/);
            await browser.size(447, 844);
            await eventually('the width', () => run(() => innerWidth), 447);
            assert.ok(await run(() => document.documentElement.scrollWidth <= innerWidth));
        });

        use('paste: a config.json becomes the model', async () => {
            await open();
            await run(insert, '#field-model', JSON.stringify(config));
            await eventually('the dialog', () => run(isThere, 'dialog[open] button[type=submit][aria-disabled=false]'), true);
            await browser.tap('dialog[open] button[type=submit]');
            await eventually('its name', () => run(value, '#field-model'), /llama|Your model/i);
            await eventually('the verdict', () => run(isThere, '#answer h1 .verdict.fits'), true);
        });

        use('paste: a launch script becomes a run, by the second module', async () => {
            await open();
            const script = 'torchrun --nproc_per_node 8 --nnodes 2 pretrain_gpt.py --num-layers 32 --hidden-size 4096 --num-attention-heads 32 --seq-length 4096 --max-position-embeddings 4096 '
                + '--micro-batch-size 1 --global-batch-size 128 --tensor-model-parallel-size 2 --pipeline-model-parallel-size 2 --vocab-size 32000 --bf16';
            await browser.tap('#field-model');
            await run(insert, '#field-model', script);
            await eventually('what was read', () => run(text, 'dialog[open]'), /tensor-model-parallel-size/);
            await browser.tap('dialog[open] button[type=submit]');
            await eventually('its plan', () => run(() => location.search), /tp=2&cp=1&pp=2/);
        });

        use('search and stop: the cards begin to be worked out, and stop when told', async () => {
            await open();
            await asks('cards');
            await eventually('rows', () => run(() => document.querySelectorAll('#cards tbody tr').length > 1), true);
            await browser.tap('#cards .proving button');
            await eventually('it can go on', () => run(text, '#cards .proving button'), /./);
            const rows = await run(() => document.querySelectorAll('#cards tbody tr').length);
            assert.ok(rows >= 2);
        });

        use('placement: links that were measured give an order', async () => {
            await open();
            await asks('placement');
            await eventually('the field', () => run(isThere, '#placement .drop textarea'), true);
            await run(insert, '#placement .drop textarea', slowLinks);
            await eventually('the search can start', () => run(isThere, '#placement .step > .acts > button.prime'), true);
            await browser.tap('#placement .step > .acts > button.prime');
            await eventually('an order', () => run(text, '#placement .result-of-placement > .finding'), /\d/);
        });

        use('embed: the answer alone', async () => {
            await browser.size(500, 500);
            await browser.goto(`${served.url}?embed&model=llama-3.1-8b&gpus=8`);
            await eventually('the verdict', () => run(isThere, '.verdict'), true);
            assert.equal(await run(isThere, '#field-gpus'), false);
        });

        use('one file: opened from the disk it answers', async () => {
            await open('', single.href);
            await browser.tap('#field-gpus');
            await browser.type('64');
            await eventually('the address', () => run(() => location.search), /gpus=64/);
            await eventually('a verdict', () => run(isThere, '#answer h1 .verdict.fits'), true);
        });

        use('without network after the first visit', async () => {
            await open();
            await eventually('all is kept', () => run(async () => (await navigator.serviceWorker?.ready)?.active?.state ?? 'none'), 'activated');
            served.server.closeAllConnections();
            await new Promise((done) => served.server.close(done));
            await open(link);
            assert.match(await run(() => document.title), /Llama 3\.1 70B on 64/);
        });
    });
}
