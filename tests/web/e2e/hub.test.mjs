// A model of the Hugging Face hub by its id: nothing leaves before the click, what leaves with it, and every way in which it fails.
import assert from 'node:assert/strict';
import { eventually, load, pageTest, settled } from './browser.mjs';
import { addressHas, addressLacks, field, headline, headlineIs, plain } from './find.mjs';
import { everyLook, fitsScreens } from './looks.mjs';
import { llama } from './numbers.mjs';
import { say } from './said.mjs';

const HUB = 'https://huggingface.co';
const repository = 'owner/model-7b';
const config = JSON.stringify({ ...llama, num_hidden_layers: 16 }, null, 2);
// As the hub answers: every site may read it, and the header that says why.
const readable = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': 'X-Repo-Commit,X-Request-Id,X-Error-Code' };
const refused = (status, code) => ({ status, headers: { ...readable, ...(code && { 'X-Error-Code': code }) }, body: 'no' });

// The dialog with the id in it, opened from the field of the model. `answer`: what the hub does with a request.
async function offered(answer, { typed = repository, query = '', ...options } = {}) {
    const visit = await load(query, { depth: 'plain', ...options });
    const { page, faults } = visit;
    const requests = [];
    await page.route(`${HUB}/**`, async (route) => {
        requests.push({ url: route.request().url(), headers: await route.request().allHeaders(), method: route.request().method() });
        await answer(route);
    });
    await page.mouse.move(2, 2);
    await settled(page);
    await field(page, 'model').click();
    await field(page, 'model').pressSequentially(typed);
    await page.getByRole('option', { name: say('form.hub', { repository }) }).click();
    const dialog = page.getByRole('dialog');
    const ask = dialog.getByRole('button', { name: say('hub.ask', { repository }), exact: true });
    await ask.waitFor();
    assert.deepEqual([requests, faults], [[], []], 'nothing leaves before the click');
    visit.allow(HUB);
    return { ...visit, requests, dialog, ask, report: dialog.locator('#paste-result'), use: dialog.locator('button[type=submit]') };
}
const failing = (answer, id, args = {}) => async (t) => {
    const { dialog, ask, report, requests } = await offered(answer);
    await ask.click();
    await report.getByText(say(id, { repository, ...args })).waitFor();
    assert.equal(await dialog.getByRole('link').getAttribute('href'), `${HUB}/${repository}/blob/main/config.json`, t.name);
    assert.equal(requests.length, 1);
    await dialog.getByRole('button', { name: say('hub.again'), exact: true }).click();
    await eventually('asked again', () => requests.length, 2);
};

pageTest('the config comes after a click, and gives the answer of a pasted one; the request says the name alone', async () => {
    const { page, requests, dialog, ask, report, use } = await offered((route) => route.fulfill({ headers: readable, body: config }));
    const before = await plain(headline(page));
    await ask.click();
    await report.locator('h3', { hasText: 'parameters' }).waitFor();
    assert.equal(await dialog.locator('textarea').inputValue(), config);
    const [{ url, method, headers }, ...more] = requests;
    assert.deepEqual([url, method, more], [`${HUB}/${repository}/resolve/main/config.json`, 'GET', []]);
    assert.deepEqual([headers.referer, headers.cookie, headers.authorization], [undefined, undefined, undefined]);
    await use.click();
    await addressHas(page, 'model.num_hidden_layers=16');
    await headlineIs(page, (now) => now !== before);
});

pageTest('a link of the hub does as the id does', async () => {
    const { dialog } = await offered((route) => route.abort(), { typed: `${HUB}/${repository}/tree/main` });
    assert.equal(await dialog.locator('textarea').inputValue(), repository);
});

pageTest('gated', failing((route) => route.fulfill(refused(401, 'GatedRepo')), 'hub.failed.gated'));
pageTest('a name that is not there, or private', failing((route) => route.fulfill(refused(401)), 'hub.failed.hidden'));
pageTest('404 without a reason', failing((route) => route.fulfill(refused(404)), 'hub.failed.hidden'));
pageTest('no config.json in it', failing((route) => route.fulfill(refused(404, 'EntryNotFound')), 'hub.failed.no_config'));
pageTest('too many requests', failing((route) => route.fulfill(refused(429)), 'hub.failed.busy'));
pageTest('the hub is broken', failing((route) => route.fulfill(refused(503)), 'hub.status', { status: '503' }));
pageTest('offline', failing((route) => route.abort('internetdisconnected'), 'hub.failed.unreachable'));
pageTest('blocked by the browser', failing((route) => route.abort('blockedbyclient'), 'hub.failed.unreachable'));
pageTest('an answer that the page may not read', failing((route) => route.fulfill({ headers: { 'Access-Control-Allow-Origin': HUB }, body: config }), 'hub.failed.unreachable'));
pageTest('a page for people', failing((route) => route.fulfill({ headers: readable, body: '<html>' }), 'hub.failed.no_json'));
pageTest('more than a config can be', failing((route) => route.fulfill({ headers: readable, body: 'x'.repeat(1_000_001) }), 'hub.failed.too_large'));

pageTest('a hub that does not answer is stopped by the reader, and by closing the dialog', async () => {
    const { page, dialog, ask, requests } = await offered(() => {});
    const ended = [];
    page.on('requestfailed', (request) => ended.push(request.failure()?.errorText));
    await ask.click();
    await dialog.getByText(say('hub.asking', { repository })).waitFor();
    await dialog.getByRole('button', { name: say('hub.stop'), exact: true }).click();
    await eventually('ended', () => ended.length, 1);
    await ask.click();
    await eventually('asked again', () => requests.length, 2);
    await page.keyboard.press('Escape');
    await eventually('ended', () => ended.length, 2);
    await addressLacks(page, 'model.num_hidden_layers');
});

pageTest('a model that is built in is offered without the hub', async () => {
    const { page } = await load('', {});
    await page.mouse.move(2, 2);
    await settled(page);
    await field(page, 'model').click();
    await page.locator('#model-list .paste').click();
    const dialog = page.getByRole('dialog');
    await dialog.locator('textarea').fill(`${HUB}/meta-llama/Llama-3.1-70B`);
    await dialog.getByRole('button', { name: say('hub.use', { label: 'Llama 3.1 70B' }), exact: true }).click();
    await addressHas(page, 'model=llama-3.1-70b');
});

pageTest('the policy lets nothing but the hub through, and the hub sends nobody on', async () => {
    const sendOn = (route) => route.fulfill({ status: 302, headers: { ...readable, Location: 'https://cdn.example/config.json' } });
    const { page, faults, ask, report } = await offered(sendOn);
    await page.evaluate(async () => {
        for (const place of ['https://example.org/', 'https://cdn-lfs.huggingface.co/', 'https://huggingface.co.example/'])
            await fetch(place).catch(() => {});
    });
    await ask.click();
    await report.getByText(say('hub.failed.unreachable', { repository })).waitFor();
    const blocked = () => new Set(faults.filter((one) => one.startsWith('console: CSP connect-src'))).size; // two policies say each of them
    await eventually('blocked', blocked, 4);
    faults.length = 0; // they were meant
});

pageTest('the offer and its failure on every look and screen', async (t) => {
    const { page, ask, report } = await offered((route) => route.fulfill(refused(401, 'GatedRepo')), { width: 390, height: 800 });
    await everyLook(t, page, 'offered', { part: 'dialog' });
    await ask.click();
    await report.getByText(say('hub.failed.gated', { repository })).waitFor();
    await everyLook(t, page, 'gated', { part: 'dialog' });
    await fitsScreens(page, 'gated');
});
