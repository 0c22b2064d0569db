// The page speaks the reader's language: by the link, by the control in the header, by the browser.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { root } from '../module.mjs';
import { eventually, load, open, pageTest, reload, settled } from './browser.mjs';
import { field, openAll, plain } from './find.mjs';

const wordsOf = (language) => JSON.parse(readFileSync(new URL(`web/src/words/${language}.json`, root), 'utf8'));
const FITS = { en: wordsOf('en')['answer.fits'], ja: wordsOf('ja')['answer.fits'], zh: wordsOf('zh')['answer.fits'] };

const verdict = (page) => plain(page.locator('#answer h1 .verdict'));
const spoken = (page) => page.evaluate(() => document.documentElement.lang);
const control = (page) => page.locator('#language');
const isSpoken = async (page, language) => {
    await eventually('the verdict', () => verdict(page), FITS[language]);
    assert.equal(await spoken(page), language);
    assert.equal(await control(page).inputValue(), language);
};

pageTest('a link chooses the language, and keeps it while the run changes', async () => {
    const page = await open('?lang=ja&model=llama-3.1-8b&gpu=h100-sxm-80gb&gpus=8&seq=8192&batch=1024');
    await isSpoken(page, 'ja');
    await field(page, 'gpus').fill('16');
    await eventually('the address', () => page.url(), /gpus=16.*&lang=ja/);
    await control(page).selectOption('zh');
    await isSpoken(page, 'zh');
    assert.match(page.url(), /gpus=16.*&lang=zh/);
});

pageTest('the control changes it in place, keeps the focus and what is open, and is remembered', async () => {
    const page = await open();
    await page.evaluate(() => localStorage.clear());
    await reload(page);
    await isSpoken(page, 'en');
    await page.locator('.changes > details summary').first().click();
    await control(page).focus();
    await control(page).selectOption('ja');
    await isSpoken(page, 'ja');
    assert.ok(await page.locator('.changes > details').first().evaluate((part) => part.open));
    assert.equal(await page.evaluate(() => document.activeElement?.id), 'language');
    assert.ok(!page.url().includes('lang='), 'a link is for everybody');
    await reload(page);
    await isSpoken(page, 'ja');
    await control(page).selectOption('en');
    await isSpoken(page, 'en');
});

pageTest('what the page lacks in a language it says in English; other languages are not fetched', async () => {
    const { page, responses } = await load('?lang=zh');
    await settled(page);
    await isSpoken(page, 'zh');
    assert.ok((await plain(page.locator('nav').first())).length > 0);
    const words = responses.map((response) => response.url()).filter((url) => /\/(first|more)-[^/]*\.js$/.test(url));
    assert.equal(new Set(words).size, words.length);
    assert.doesNotMatch(await page.locator('body').innerText(), /\b[a-z_]+\.[a-z_]+\.[a-z_.]+\b/, 'an id without words');
});

pageTest('names without spaces stand beside their fields and above their columns, not letter below letter', async () => {
    const page = await open('?lang=ja&model=llama-3.1-70b&gpus=64&depth=detail');
    await page.locator('.stages .behind').waitFor();
    await openAll(page);
    await page.locator('.stages .behind thead').first().waitFor();
    const lines = (selector) => page.locator(selector).evaluateAll((all) => all.map((one) => [one.textContent, Math.round(one.getBoundingClientRect().height / 24)]).filter(([, n]) => n > 3));
    assert.deepEqual(await lines('.adjust .field label'), []);
    assert.deepEqual(await lines('.stages .behind thead th:first-child'), []);
    assert.deepEqual(await page.locator('.stages .behind thead th:first-child').evaluateAll((all) => all.map((one) => getComputedStyle(one).whiteSpace)), ['nowrap']);
    const right = (selector) => page.locator(selector).evaluateAll((all) => Math.max(...all.map((one) => one.getBoundingClientRect().right)));
    assert.ok((await right('.adjust .field select')) <= (await right('.adjust')) + 1, 'a long choice is cut');
});
