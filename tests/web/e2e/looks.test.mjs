// For everybody: every part of the page by axe, in every look, and no wider than the screen.
import assert from 'node:assert/strict';
import { follow, load, open, pageTest, settled } from './browser.mjs';
import { card, field, later, openAll, part, pasteDialog, stages, timePart } from './find.mjs';
import { everyLook, fitsScreens, violations } from './looks.mjs';
import { fourStages } from './numbers.mjs';
import { words } from './words.mjs';

const [WIDE, PHONE] = [1280, 390];

pageTest('the answer, with everything unfolded, and with problems', async (t) => {
    const page = await open();
    await fitsScreens(page, 'as it opens');
    await part(page, 'activations').click();
    await card(page, 'activations').waitFor();
    await fitsScreens(page, 'with a card open');
    const unfolded = async () => {
        await openAll(page);
        await page.locator('.timeline [role=slider], .timeline .note').first().waitFor();
    };
    await unfolded();
    await fitsScreens(page, 'with everything unfolded');
    await everyLook(t, page, 'with a card open', { prepare: unfolded });
    await field(page, 'gpus').fill('7');
    await field(page, 'tensor_parallel').fill('3');
    await page.locator('.problems').waitFor();
    await everyLook(t, page, 'with problems shown');
});

pageTest('the first screen is one page of paper', async () => {
    const page = await open('?model=llama-3.1-70b&gpu=h100-sxm-80gb&gpus=64&depth=plain', { depth: 'plain' });
    const paper = (await page.pdf({ format: 'A4' })).toString('latin1');
    assert.equal(paper.match(/\/Type *\/Page\b/g).length, 1);
});

pageTest('paper is white: what is printed has the light colours, whichever the page has', async () => {
    const page = await open();
    const inks = () => page.locator('.card-bar .cardsize, .tiles input').evaluateAll((all) => all.map((one) => getComputedStyle(one).color + getComputedStyle(one).fill));
    const choose = (theme) => page.evaluate((theme) => document.documentElement.setAttribute('data-theme', theme), theme);
    await page.emulateMedia({ media: 'print' });
    await choose('light');
    const light = await inks();
    await choose('dark');
    for (const colorScheme of ['light', 'dark']) {
        await page.emulateMedia({ media: 'print', colorScheme });
        assert.deepEqual(await inks(), light, colorScheme);
    }
});

pageTest('stages, curve, timeline, comparison, settings, layers', async (t) => {
    const page = await open(`${fourStages}&rc=selective&layout=Et*19|(t*21|)*2t*19L`, { width: PHONE });
    const unfolded = async () => {
        await openAll(page);
        for (const there of ['.step [role=slider]', '.timeline [role=slider]', '.methods', '.layers table'])
            await page.locator(there).waitFor();
    };
    await stages(page).waitFor();
    await unfolded();
    await fitsScreens(page, 'with stages');
    await timePart(page, 'tensor').click();
    await card(page, 't-tensor').waitFor();
    await stages(page).getByRole('button').nth(2).click();
    await page.locator('.stages .showing button').waitFor();
    await everyLook(t, page, 'with stages', { widths: [PHONE, WIDE], prepare: unfolded });
});

pageTest('pinned plans', async (t) => {
    const pins = [2, 3, 4].map((tp) => `&pin=model=llama-3.1-8b;gpu=h100-sxm-80gb;gpus=8;seq=8192;batch=1024;cp=1;pp=1;mb=1;tp=${tp}`);
    const page = await open(`?v=1&gpus=8&tokens=1e12${pins.join('')}`, { width: PHONE });
    await page.locator('#compare .best-mark').first().waitFor();
    await later(page, words.timeTable).click();
    await page.locator('.time-items').waitFor();
    await everyLook(t, page, 'the table scrolls, not the page', { widths: [PHONE, WIDE] });
});

pageTest('a run that is too large, the list of models, the paste dialog', async (t) => {
    const page = await open('?v=1&model=llama-3.1-405b&gpus=8');
    await everyLook(t, page, 'a run that does not fit');
    await field(page, 'model').click();
    await everyLook(t, page, 'the list of models open');
    await page.keyboard.press('Escape');
    const { text, wrong } = await pasteDialog(page);
    await text.fill('{');
    await wrong.waitFor();
    await everyLook(t, page, 'the paste dialog');
});

pageTest('long numbers and names are no wider than the screen', async () => {
    const page = await open('?v=1&model=llama-3.1-405b&gpus=16384&gpu=h100-sxm-94gb&seq=131072');
    await fitsScreens(page, 'long numbers');
    await follow(page, '?v=1&model=llama-3.1-405b&gpus=16384&seq=8192&batch=2048');
    await page.locator('#best table').first().waitFor();
    await fitsScreens(page, 'long plans');
    await page.waitForLoadState('networkidle'); // a file on its way would fail when the page is left
    await follow(page, `?v=1&gpus=7&tp=3&model=${'x'.repeat(300)}`);
    await page.locator('.problems').waitFor();
    await fitsScreens(page, 'problems with a long name');
});

pageTest('on a phone the rooms are closed: their headings and links open them, and the screen may be turned', async () => {
    const { page } = await load('', { width: PHONE });
    await page.mouse.move(2, 2);
    await settled(page);
    const doors = page.locator('.room-door');
    const isOpen = (id) => page.locator(`#${id} .room-door`).getAttribute('aria-expanded');
    assert.equal(await page.locator('.room-door[aria-expanded=true]').count(), 0);
    assert.ok((await doors.count()) >= 9);
    assert.deepEqual(await violations(page), []);
    await page.locator('#best .room-door').click();
    await page.locator('#best table').first().waitFor();
    await page.evaluate(() => (location.hash = 'adjust'));
    await field(page, 'tensor_parallel').waitFor();
    assert.deepEqual(await Promise.all(['best', 'adjust', 'gpus'].map(isOpen)), ['true', 'true', 'false']);
    await page.setViewportSize({ width: WIDE, height: 900 });
    await page.locator('#gpus table, #gpus svg').first().waitFor();
    await page.setViewportSize({ width: PHONE, height: 900 });
    await doors.first().waitFor();
    assert.equal(await isOpen('gpus'), 'true');
});
