// How do pinned plans differ?
import assert from 'node:assert/strict';
import { eventually, open, pageTest } from './browser.mjs';
import { addressHas, catchCopies, escape, focused, headlineIs, inAddress, inOrder, option, plain, plainAll, takes } from './find.mjs';
import { answerOf, llama, minutes, used } from './numbers.mjs';
import { words } from './words.mjs';

// Beside the answer; it goes when no more plans can be pinned, and unpins what is pinned.
const pin = (page) => page.locator('#answer .plan .acts button:not([aria-controls]):not([aria-haspopup])');
const table = (page) => page.locator('#compare section.scroll table');
const heads = (page) => plainAll(table(page).locator('thead .name'));
const headsAre = (page, ...wanted) => eventually('the heads', async () => (await heads(page)).join(), wanted.join());
const line = (page, name) => table(page).getByRole('row', { name: new RegExp(`^${escape(name)}`) });
const row = (page, name) => plain(line(page, name));
const compared = (page, count) => eventually('the columns', async () => (await heads(page)).length, count);
const headOf = (page, name) => table(page).locator('thead th', { has: page.locator('.name b', { hasText: name }) });
const unpinned = (page) => eventually('no table', () => table(page).count(), 0);

pageTest('two plans stand side by side, in the link too', async () => {
    const page = await open();
    assert.equal(await table(page).count(), 0);
    assert.equal(await page.locator('#compare .acts button').count(), 1, 'how to pin one');
    await pin(page).click();
    await addressHas(page, '&pin=model=llama-3.1-8b;gpu=h100-sxm-80gb;gpus=8;');
    await compared(page, 1);
    await option(page, 'tensor_parallel', 4).click();
    await addressHas(page, 'tp=4');
    await headsAre(page, words.planShown, words.pin(1));
    await pin(page).click();
    await headsAre(page, words.pin(1), `${words.pin(2)} ${words.shownNow}`);
    const { whole_bytes, time, job } = answerOf('default');
    await eventually(
        'memory',
        () => row(page, words.row.memory),
        new RegExp(`^${words.row.memory} ${(whole_bytes / 2 ** 30).toFixed(1)} GB ${words.best} [\\d.]+ GB$`),
    );
    inOrder(await row(page, words.row.step), `${words.row.step} ${minutes(time.step_seconds)} ${words.best} `);
    assert.equal(await row(page, words.tensor), `${words.tensor} ${job.tensor_parallel} 4`);
    for (const same of words.row.same) assert.equal(await line(page, same).count(), 0, 'what is the same has no row');
    assert.match(await plain(page.locator('#compare .finding')), words.bestOfBoth(1));
    // The numbers of a pinned plan are those of the plan itself.
    inOrder(await row(page, words.row.step), words.timeIn.exec(await takes(page))[1]);

    const shown = await plain(table(page));
    const again = await open(new URL(page.url()).search);
    await eventually('the reopened table', () => plain(table(again)), shown);
    assert.equal(await again.locator('.notices p').count(), 0);
});

pageTest('a pinned plan is shown again, unpinned, and goes with the browser’s Back', async () => {
    const page = await open();
    await pin(page).click();
    await compared(page, 1);
    await option(page, 'tensor_parallel', 4).click();
    await compared(page, 2);
    await pin(page).click();
    await headsAre(page, words.pin(1), `${words.pin(2)} ${words.shownNow}`);
    await headOf(page, words.pin(1)).getByRole('button').first().click(); // show it
    await headsAre(page, `${words.pin(1)} ${words.shownNow}`, words.pin(2));
    await headlineIs(page, (text) => text.includes(used(answerOf('default'))));
    await headOf(page, words.pin(2)).getByRole('button').last().click(); // unpin it
    await compared(page, 1);
    assert.equal(new URL(page.url()).searchParams.getAll('pin').length, 1);
    assert.equal((await focused(page)).id, 'compare', 'the focus stays near');
    await page.goBack();
    await compared(page, 2);
    await page.goForward();
    await compared(page, 1);
    await pin(page).click(); // which unpins
    await unpinned(page);
    assert.equal(inAddress(page, 'pin'), null);
});

pageTest('a pasted model is pinned whole', async () => {
    const config = Object.entries(llama).filter(([, value]) => value === null || typeof value !== 'object');
    const query = new URLSearchParams([['v', '1'], ['model', 'custom'], ...config.map(([key, value]) => [`model.${key}`, String(value)])]);
    const page = await open(`?${query}`);
    await pin(page).click();
    await compared(page, 1);
    const again = await open(new URL(page.url()).search);
    await headsAre(again, `${words.pin(1)} ${words.shownNow}`);
});

const base = 'model=llama-3.1-8b;gpu=h100-sxm-80gb;gpus=8;seq=8192;batch=1024;cp=1;pp=1;mb=1;node=8;ep=1';
pageTest('a pin that cannot work shows why; a broken one is named and left out', async () => {
    const page = await open(`?v=1&node=8&tp=2&cp=1&pp=1&mb=1&ep=1&pin=${base};tp=3&pin=${base};tp=2&pin=tp=banana`);
    inOrder(await plain(page.locator('.notices')), 'pin=tp=banana');
    await compared(page, 2);
    const verdict = table(page).locator('tr', { has: page.locator('td li') });
    await eventually('the verdict', () => plain(verdict), new RegExp(`3 .* ${words.fits}$`));
    assert.match(await row(page, words.row.step), new RegExp(`^${words.row.step} \\d`), 'the other keeps its numbers');
});

pageTest('six at most; whole run and its cost where a budget is set; all of them on paper', async () => {
    const plans = [1, 2, 4, 8].map((tp) => `${base};tp=${tp};tokens=1000000000000;price=2;watts=1000`);
    const more = [1, 2].map((tp) => `${base};tp=${tp};rc=full`);
    const page = await open(`?v=1&gpus=16${[...plans, ...more].map((one) => `&pin=${one}`).join('')}`);
    await compared(page, 7);
    assert.equal(await pin(page).count(), 0);
    inOrder(await plain(page.locator('#answer .plan a[href="#compare"]')), '6');
    await eventually('cost', () => row(page, words.row.cost), words.costsOfSix);
    for (const name of words.row.ofRun) await row(page, name);
    await page.emulateMedia({ media: 'print' });
    await page.setViewportSize({ width: 720, height: 1000 });
    const [box, room] = await table(page).evaluate((element) => [element.scrollWidth, element.parentElement.clientWidth]);
    assert.ok(box <= room, `${box} in ${room}`);
    assert.ok(await table(page).isVisible());
});

pageTest('the table is copied with tabs and as Markdown', async () => {
    const page = await open(`?v=1&node=8&tp=2&cp=1&pp=1&mb=1&pin=${base};tp=4`);
    await compared(page, 2);
    const copied = await catchCopies(page);
    const [tabs, markdown] = [0, 1].map((i) => page.locator('#compare > .acts button').nth(i));
    await eventually('the answer', () => row(page, words.row.verdict), `${words.row.verdict} ${words.fits} ${words.fits}`);
    inOrder(await copied(tabs), `\t${words.planShown}\t${words.pin(1)}\n${words.tensor}\t2\t4\n`);
    inOrder(await copied(markdown), `|  | ${words.planShown} | ${words.pin(1)} |\n| --- | --- | --- |\n`);
});

pageTest('two plans stand side by side on a phone', async () => {
    const page = await open(`?v=1&node=8&tp=2&cp=1&pp=1&mb=1&pin=${base};tp=4#compare`, { width: 390, height: 844 });
    await compared(page, 2);
    await eventually('their times', () => row(page, words.row.step), /\d/);
    const [box, room] = await table(page).evaluate((element) => [element.scrollWidth, element.parentElement.clientWidth]);
    assert.ok(box <= room, `${box} in ${room}`);
});
