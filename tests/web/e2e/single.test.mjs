// The page in one file, opened from the disk: the same answers, links, searches, and nothing beside it is asked for.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { root } from '../module.mjs';
import { eventually, load, open, pageTest, settled } from './browser.mjs';
import { addressHas, chooseModel, field, headline, headlineIs, later, pasteDialog, plain, verdictIs } from './find.mjs';
import { answerOf, used } from './numbers.mjs';
import { openLinks, run, search, searchFor, section } from './placement.mjs';
import { say } from './said.mjs';
import { words } from './words.mjs';

// Alone in a folder, under a name with a space.
let folder, at;
before(() => {
    execFileSync('npm', ['--prefix', fileURLToPath(new URL('web', root)), 'run', '--silent', 'single'], { stdio: 'pipe' });
    folder = mkdtempSync(join(tmpdir(), 'fourfold-single-'));
    const file = join(folder, 'my fourfold.html');
    copyFileSync(new URL('build/single/fourfold.html', root), file);
    at = pathToFileURL(file).href;
});
after(() => rmSync(folder, { recursive: true, force: true }));

pageTest('the file shows the golden sentence, calculates, and asks for nothing beside it', async () => {
    const { page, responses } = await load('', { at });
    assert.ok((await plain(headline(page))).includes(used(answerOf('default'))));
    await page.mouse.move(2, 2);
    await settled(page);
    await field(page, 'gpus').fill('64');
    await addressHas(page, 'gpus=64');
    await headlineIs(page, (text) => !text.includes(used(answerOf('default'))));
    await chooseModel(page, '3.1 70', /Llama 3\.1 70B/);
    await addressHas(page, 'model=llama-3.1-70b');
    await verdictIs(page, 'fits');
    await page.goBack();
    await eventually('back', () => field(page, 'model').inputValue(), /8B/);
    assert.deepEqual(
        responses.map((response) => response.url()).filter((url) => !/^(data|blob):/.test(url)),
        [at],
    );
});

pageTest('a link with a query opens its run, in its language; parts that are opened later are there', async () => {
    const page = await open('?v=2&model=llama-3.1-70b&gpus=64&tp=8&pp=4&cp=1&mb=1', { at });
    assert.ok((await plain(headline(page))).includes(used(answerOf('llama-70b-64-h100'))));
    await later(page, words.timeTable).click();
    await page.locator('.time-items').waitFor();
    await page.getByRole('link', { name: 'Fourfold', exact: true }).click();
    await eventually('home', () => page.url(), at);
    const japanese = await open('?v=2&model=llama-3.1-8b&gpus=8&lang=ja', { at });
    assert.match(await plain(headline(japanese)), /[\u3040-\u30ff]/);
});

pageTest('a search runs in a thread of its own and is stopped', async () => {
    const page = await open(run, { at });
    const { example } = await openLinks(page);
    await example.click();
    await searchFor(page, 30);
    await search(page);
    const running = section(page).locator('.acts', { has: page.locator('span.note') });
    await eventually('progress', () => plain(running), words.movesTried);
    await running.getByRole('button').click();
    await eventually('stopped', () => plain(section(page)), /Stopped(:| before)/);
});

pageTest('a model of the hub by its id: the file asks nobody, and says the way by hand', async () => {
    const page = await open('', { at });
    const { dialog, text } = await pasteDialog(page);
    await text.fill('owner/model-7b');
    await dialog.getByText(say('hub.not_allowed', { repository: 'owner/model-7b' })).waitFor();
    assert.equal(await dialog.locator('.hub button').count(), 0);
    assert.equal(await dialog.getByRole('link').getAttribute('href'), 'https://huggingface.co/owner/model-7b/blob/main/config.json');
});
