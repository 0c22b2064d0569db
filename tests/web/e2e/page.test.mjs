// The whole page: what is shipped, its size and its policy, the golden answers in the browser, the keyboard alone.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { contentSecurityPolicy } from '../../../.ci/static-server.mjs';
import { differences, goldenCases } from '../golden.mjs';
import { bareTab, dist, eventually, load, open, pageTest, settled } from './browser.mjs';
import { addressHas, card, headline, plain, verdictIs } from './find.mjs';
import { answerOf, used } from './numbers.mjs';
import { words } from './words.mjs';

// Bytes, gzip -9: of everything that the default page fetches to show its finished example, and of what follows by itself.
const FIRST_LOAD_LIMIT = 50 * 1024,
    MODULE_LIMIT = 391 * 1024,
    FIRST_FILE_LIMIT = 163.6 * 1024, // of the module, which answers a link
    LINK_LIMIT = 222.1 * 1024; // before the answer of a link

const sizes = (names) =>
    names.map((file) => [file || 'index.html', gzipSync(readFileSync(dist + (file || 'index.html')), { level: 9 }).length]);
const total = (list) => list.reduce((sum, [, size]) => sum + size, 0);
const told = (what, list, limit) =>
    console.log(
        `${what}: ${(total(list) / 1024).toFixed(1)} KB of ${limit / 1024} KB, gzip -9:`,
        list.map(([file, size]) => `${file} ${(size / 1024).toFixed(1)}`).join(', '),
    );

pageTest('what comes before the page is loaded stays within its budget, and so does what comes by itself afterwards', async () => {
    const { page } = await load('', { depth: 'plain' });
    assert.ok((await plain(headline(page))).includes(used(answerOf('default'))));
    await settled(page);
    await page.waitForLoadState('networkidle');
    // Asked for before the page was loaded, or after.
    const asked = await page.evaluate(() => {
        const [page, ...files] = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')];
        return [page, ...files].map(({ name, startTime }) => [name.split('/fourfold/')[1].split('?')[0], startTime <= page.loadEventStart]);
    });
    const names = (wanted) => [...new Set(asked.filter(([, early]) => early === wanted).map(([file]) => file))];
    const first = sizes(names(true)),
        more = sizes(names(false));
    told('first load', first, FIRST_LOAD_LIMIT);
    assert.ok(!first.some(([file]) => /\.wasm|example|worker/.test(file)), `${first}`);
    assert.ok(total(first) <= FIRST_LOAD_LIMIT);
    told('first load, by itself afterwards', more, MODULE_LIMIT);
    assert.ok(more.some(([file]) => file.endsWith('.wasm')) && more.some(([file]) => /worker/.test(file)), `${more}`);
    assert.ok(total(more) <= MODULE_LIMIT);
});

pageTest('a mouse that merely rests on the page, of which browsers tell too, brings nothing before the page itself is loaded', async () => {
    const { page } = await load('', { depth: 'plain' });
    await page.route('**/slow.svg', async (route) => {
        await new Promise((go) => setTimeout(go, 300));
        await route.fulfill({ contentType: 'image/svg+xml', body: '<svg xmlns="http://www.w3.org/2000/svg"/>' });
    });
    await page.addInitScript(() => {
        addEventListener('DOMContentLoaded', () => {
            const moves = setInterval(() => dispatchEvent(new PointerEvent('pointermove')), 5);
            addEventListener('load', () => clearInterval(moves));
            document.body.append(Object.assign(new Image(), { src: 'slow.svg' })); // the page is loaded when this is
        });
    });
    await page.reload();
    await settled(page);
    const modules = await page.evaluate(() => {
        const [{ loadEventStart }] = performance.getEntriesByType('navigation');
        const all = performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('.wasm'));
        return all.map(({ startTime }) => startTime > loadEventStart);
    });
    assert.ok(modules.length > 0 && modules.every(Boolean), `${modules}`);
});

pageTest('the page carries the policy itself, for hosts that send no headers', async () => {
    const { page } = await load();
    const inPage = await page.locator('meta[http-equiv="Content-Security-Policy"]').getAttribute('content');
    const rules = (policy) =>
        policy
            .split(';')
            .map((rule) => rule.trim())
            .filter(Boolean)
            .sort();
    assert.deepEqual(rules(inPage), rules(contentSecurityPolicy));
});

pageTest('the page alone may ask the hub: what others show in a frame may not', async () => {
    const connects = (file) => readFileSync(dist + file, 'utf8').match(/connect-src ([^;]*);/)?.[1];
    assert.deepEqual([connects('index.html'), connects('embed.html')], ["'self' https://huggingface.co", "'self'"]);
});

pageTest('nothing shipped names another place to load from, or evaluates text', async () => {
    for (const file of readdirSync(dist, { recursive: true }).filter((name) => /\.(js|css|html)$/.test(name))) {
        const text = readFileSync(dist + file, 'utf8');
        assert.doesNotMatch(text, /\beval\(|new Function\(/, file);
        assert.doesNotMatch(text, /(src|href|url)\s*[=(]\s*["']?(https?:)?\/\/(?!arxiv|huggingface|www|resources|developer|lambda)/, file);
    }
});

// Asks the module in a worker of the page's own kind, case by case.
async function askInBrowser({ worker, wasm, second, cases }) {
    const thread = new Worker(worker, { type: 'module' });
    thread.postMessage(await WebAssembly.compileStreaming(fetch(wasm)));
    if (second) thread.postMessage({ second: await WebAssembly.compileStreaming(fetch(second)) });
    const answers = [];
    for (const [id, { function: call, request: text }] of cases.entries()) {
        const reply = await new Promise((done) => {
            thread.onmessage = ({ data }) => data.id === id && !('progress' in data) && done(data); // a slow machine is told how far it is
            thread.postMessage({ id, call, text });
        });
        const value = reply.value;
        if (value === undefined) answers.push({ response: reply });
        else if (call !== 'search') answers.push({ response: typeof value === 'string' ? JSON.parse(value) : value });
        else
            answers.push({
                response: value.summary,
                columns: Object.fromEntries(Object.entries(value.columns).map(([name, column]) => [name, Array.from(column)])),
            });
    }
    thread.terminate();
    return answers;
}

pageTest('the golden cases hold in the browser, through the page’s own worker', async () => {
    const { page, responses } = await load();
    await page.mouse.move(2, 2);
    await settled(page);
    const worker = page.workers()[0].url();
    const [wasm, second] = ['fourfold', 'fourfold_more'].map((name) => responses.map((one) => one.url()).find((url) => url.includes(`/${name}-`) && url.endsWith('.wasm')));
    const cases = goldenCases().filter(({ function: name }) => !/(fields|formats)$/.test(name)); // what the module's test asks the catalogue
    // What reads and writes configurations is a module of its own, in a thread of its own, which come when somebody brings or wants one.
    const written = ['import_plan', 'export_plan', 'find_models', 'read_run'];
    const assets = readdirSync(`${dist}assets`);
    const reader = (file) => new URL(assets.find((name) => file.test(name)), worker).href;
    const readers = { worker: reader(/^reader-worker-/), wasm: reader(/^fourfold_formats-.*\.wasm$/) };
    for (const [own, module] of [
        [(name) => !written.includes(name), { worker, wasm, second }],
        [(name) => written.includes(name), readers],
    ]) {
        const asked = cases.filter(({ function: name }) => own(name));
        assert.ok(asked.length > 0);
        const answers = await page.evaluate(askInBrowser, { ...module, cases: asked });
        for (const [i, one] of asked.entries()) {
            const found = differences(one.response, answers[i].response);
            if (one.columns) found.push(...differences(one.columns, answers[i].columns, 'columns'));
            assert.deepEqual(found.slice(0, 5), [], one.name);
        }
    }
});

pageTest('a host that serves .wasm under another type still works', () =>
    bareTab(async (page, url) => {
        await page.route('**/*.wasm', async (route) => {
            const response = await route.fetch();
            await route.fulfill({ response, headers: { ...response.headers(), 'content-type': 'application/octet-stream' } });
        });
        await page.goto(url);
        await page.mouse.move(2, 2);
        await page.locator('#plans [role=grid]').waitFor();
    }),
);

pageTest('without the module the example stays, and the page says so', () =>
    bareTab(async (page, url) => {
        await page.route('**/*.wasm', (route) => route.fulfill({ status: 404, body: '' }));
        await page.goto(url);
        await page.mouse.move(2, 2);
        await page.getByRole('alert').waitFor();
        await verdictIs(page, 'fits');
    }),
);

pageTest('a link is answered by the first file of the module alone', () =>
    bareTab(async (page, url) => {
        await page.route('**/fourfold_more-*.wasm', (route) => route.abort());
        await page.addInitScript(() => {
            // The title says the answer in the very step that draws it.
            const watch = new MutationObserver(() => {
                if (window.answered === undefined && document.title.includes('70B')) window.answered = performance.now();
            });
            watch.observe(document, { childList: true, subtree: true, characterData: true });
        });
        await page.goto(`${url}?v=1&model=llama-3.1-70b&gpu=h100-sxm-80gb&gpus=64`);
        await page.getByText(words.noFile).waitFor(); // of what the other file would have answered
        await verdictIs(page, 'fits');
        const names = await page.evaluate(() =>
            [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')].flatMap(({ startTime, name }) =>
                startTime < window.answered ? [name] : [],
            ),
        );
        const files = sizes(names.map((name) => name.split('/fourfold/')[1].split('?')[0]));
        told('before the answer of a link', files, LINK_LIMIT);
        const module = files.filter(([file]) => file.endsWith('.wasm'));
        assert.ok(module.length === 1 && total(module) <= FIRST_FILE_LIMIT && total(files) <= LINK_LIMIT);
    }),
);

pageTest('the first screen has all its words: those of every detail may be missing', () =>
    bareTab(async (page, url) => {
        const links = ['model=llama-3.1-70b&gpus=64', 'model=llama-3.1-405b', 'gpus=0', 'gpus=8&tp=3', 'model=deepseek-v3&gpus=512&cluster=nowhere', 'gpu=h100'];
        for (const link of links) {
            await page.goto(`${url}?v=2&${link}&depth=plain`);
            await eventually('the answer', () => page.title(), /–/);
            await settled(page);
            await page.locator('#answer details summary').evaluateAll((all) => all.forEach((one) => one.click()));
            const said = (await page.locator('body').innerText()).match(/\b[a-z_]+(\.[a-z_0-9]+)+\b/g) ?? [];
            assert.deepEqual(said, [], link);
        }
        assert.ok(!(await page.evaluate(() => performance.getEntriesByType('resource').some(({ name }) => /\/more-/.test(name)))));
    }),
);

pageTest('on a link the module is on its way before the boot script could ask for it; without one nothing comes early', () =>
    bareTab(async (page, url) => {
        const asked = () =>
            page.evaluate(() =>
                performance.getEntriesByType('resource').flatMap(({ name, initiatorType }) => (/fourfold-[^/]*wasm/.test(name) ? [initiatorType] : [])),
            );
        await page.goto(`${url}?v=2&model=llama-3.1-70b`);
        await verdictIs(page, 'does_not_fit');
        assert.deepEqual(await asked(), ['link']); // once, and the fetch of the boot script takes it
        await page.goto(url);
        await page.mouse.move(2, 2);
        await page.waitForFunction(() => performance.getEntriesByType('resource').some(({ name }) => /fourfold-[^/]*wasm/.test(name)));
        assert.deepEqual(await asked(), ['fetch']);
    }),
);

pageTest('keyboard alone: from the address bar to a formula and to another plan', async () => {
    const page = await open();
    const focus = () =>
        page.evaluate(() => {
            const at = document.activeElement;
            const shape = at.getBoundingClientRect();
            return {
                name: at.getAttribute('aria-label') ?? at.innerText ?? '',
                visible: shape.width > 0 && shape.height > 0,
                tag: at.tagName,
            };
        });
    const tabTo = async (selector) => {
        for (let i = 1; i <= 80; ++i) {
            await page.keyboard.press('Tab');
            const now = await focus();
            assert.ok(now.visible || now.tag === 'BODY', `focus on something invisible: ${JSON.stringify(now)}`);
            if (await page.evaluate((wanted) => document.activeElement.matches(wanted), selector)) return i;
        }
        assert.fail(`no way by Tab to ${selector}`);
    };
    await page.keyboard.press('Tab');
    assert.ok(await page.evaluate(() => document.activeElement.matches('a.skip[href="#answer"]')));
    assert.ok((await tabTo('#field-model')) <= 14, 'the first field of the run is the 15th stop at the latest');
    await tabTo('#field-gpus');
    await page.keyboard.press('ArrowUp');
    await addressHas(page, 'gpus=16');
    await tabTo('.part.weights');
    await page.keyboard.press('Enter');
    await card(page, 'weights').waitFor();
    await tabTo(`[aria-label^="${words.tensor} 8: "]`);
    await page.keyboard.press('Space');
    await addressHas(page, 'tp=8');
});
