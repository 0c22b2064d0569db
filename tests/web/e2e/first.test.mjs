// The first screen, as somebody sees it who comes for the first time: one answer, what it takes, and where to go on.
import assert from 'node:assert/strict';
import { eventually, load, open, pageTest, settled } from './browser.mjs';
import { addressHas, addressLacks, field, headline, holds, inOrder, part, plain, verdictIs } from './find.mjs';
import { fitsScreen, violations } from './looks.mjs';
import { answerOf } from './numbers.mjs';

const first = { depth: 'plain' };
const GIB = 2 ** 30;
const whole = ({ whole_bytes: bytes }) => String(Math.round(bytes / GIB));

pageTest('one answer on one screen, at both widths: nothing else is drawn', async () => {
    for (const [width, height] of [
        [1280, 800],
        [390, 844],
    ]) {
        const page = await open('', { ...first, width, height });
        assert.equal(await page.locator('.adjust, #best, #plans, .items').count(), 0);
        assert.ok(!(await page.locator('.top nav').isVisible()), 'the way to sections that are not there');
        const bottom = async (selector) => {
            const box = await page.locator(selector).first().boundingBox();
            return box.y + box.height;
        };
        assert.ok((await bottom('.sentence')) < 340, 'the question');
        assert.ok((await bottom('#answer h1')) < 460, 'the verdict');
        assert.ok((await bottom('.memory .bar')) < 580, 'the bar');
        assert.ok((await bottom('.tiles')) < height, 'how long, how much money and energy');
        assert.ok((await bottom('.plan p')) < height, 'the plan in words');
        const actions = await page.locator('.plan .acts > *').evaluateAll((all) => all.map((one) => one.getBoundingClientRect().bottom));
        assert.ok(Math.max(...actions.slice(0, 3)) < height, 'share it, launch it, change it');
        const pages = (await page.evaluate(() => document.documentElement.scrollHeight)) / height;
        assert.ok(pages < (width > 1000 ? 1.6 : 3), `${pages} screens`);
        const across = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(across <= 0, `${across} px too wide`);
    }
});

pageTest('where letters are large on a small screen, what a tile rests on stands below its number, not in a column of its own', async () => {
    for (const [width, below] of [
        [280, true], // 15 letters of 24 pixels are as wide
        [390, false],
    ]) {
        const page = await open('', { ...first, width });
        const [number, rest] = await page.locator('.tiles > div').first().locator('b, small').evaluateAll((both) => both.map((one) => one.getBoundingClientRect().toJSON()));
        assert.equal(rest.top >= number.bottom - 1, below, `${width} px`);
    }
});

pageTest('nothing for axe to find, light and dark, wide and narrow', async () => {
    for (const [width, colorScheme] of [
        [1280, 'light'],
        [390, 'dark'],
    ]) {
        const page = await open('?model=llama-3.1-70b&gpus=64', { ...first, width, colorScheme });
        assert.deepEqual(await violations(page), []);
    }
});

pageTest('by keyboard alone: past the bar to the plan’s first button, which opens and closes', async () => {
    const page = await open('', first);
    await page.locator('#answer').focus();
    const reached = () => page.evaluate(() => document.activeElement.closest('.plan') !== null);
    let presses = 0;
    while (presses < 15 && !(await reached())) {
        await page.keyboard.press('Tab');
        ++presses;
    }
    assert.ok(await reached(), `${presses} presses from the answer`);
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    assert.ok(await reached(), 'the focus is back');
});

pageTest('by keyboard alone: what a link of the first screen leads to has the focus, though the link is gone', async () => {
    const page = await open('', first);
    for (const [link, section] of [
        ['.plan a[href="#adjust"]', 'adjust'],
        ['.next a[href="#gpus"]', 'gpus'],
    ]) {
        await page.locator(link).focus();
        await page.keyboard.press('Enter');
        await page.locator(`#${section}`).waitFor();
        await eventually('the focus', () => page.evaluate(() => document.activeElement.closest('[id]').id), section);
        await page.goBack();
        await page.locator('main.plain').waitFor();
    }
});

pageTest('a question opens what it leads to, and the next visit is plain again', async () => {
    const page = await open('', first);
    await page.locator('.next a[href="#calibrate"]').click();
    await page.locator('#calibrate textarea').waitFor();
    await page.goBack();
    await eventually('the first screen again', () => page.locator('main.plain').count(), 1);
    await page.goForward();
    await page.locator('#calibrate textarea').waitFor();
    // In a tab of its own: what is still on its way to the first one is not cut off.
    const next = await page.context().newPage();
    await next.goto(page.url().replace(/#.*/, ''));
    await settled(next);
    await eventually('plain again', () => next.locator('main.plain').count(), 1);
    await next.close();
});

pageTest('one number for the memory: in the headline, at the end of the bar, and in the title', async () => {
    const page = await open('', first);
    const answer = answerOf('default');
    inOrder(await plain(headline(page)), ` ${whole(answer)} `, ' 80 ');
    assert.ok((await page.title()).includes(` ${whole(answer)} `), await page.title());
    const ends = await page.locator('.memory .part').evaluateAll((parts) => Math.max(...parts.map((one) => one.getBoundingClientRect().right)));
    const frame = await page.locator('.memory .frame').boundingBox();
    const share = (ends - frame.x) / frame.width;
    assert.ok(Math.abs(share - answer.whole_bytes / answer.card_bytes) < 0.01, String(share));
});

pageTest('a part of the bar opens its card right there; a second tap closes it', async () => {
    const page = await open('', first);
    await part(page, 'activations').click();
    const card = page.locator('.bar-card article').first();
    await card.waitFor();
    await part(page, 'activations').click();
    await card.waitFor({ state: 'detached' });
});

pageTest('a section that was gone to by its link is there again after a reload', async () => {
    const { page } = await load('#cards', { depth: 'plain' });
    const inView = () => page.locator('#cards').evaluate((section) => Math.abs(section.getBoundingClientRect().top) < 100);
    await settled(page);
    await eventually('in view', inView, true);
    await page.reload();
    await settled(page);
    await page.waitForLoadState('networkidle');
    await eventually('in view again', inView, true);
});

pageTest('the six questions carry their answers, and lead to them', async () => {
    const page = await open('?model=llama-3.1-70b&gpus=64', first);
    await eventually('answers', () => plain(page.locator('.next')), (text) => !text.includes('…'));
    await page.locator('.next a[href="#limits"]').first().click();
    await page.locator('#limits h2').waitFor();
    await eventually('in view', () => page.locator('#limits').evaluate((section) => Math.abs(section.getBoundingClientRect().top) < 100), true);
});

pageTest('every detail is one tap away, kept, and part of the link; so is the way back', async () => {
    const page = await open('', first);
    const depth = (n) => page.locator('.seg button').nth(n);
    await depth(1).click();
    await addressHas(page, 'depth=detail');
    await page.locator('#adjust').waitFor();
    await page.reload();
    await settled(page);
    await page.locator('#adjust').waitFor();
    await depth(0).click();
    await addressLacks(page, 'depth');
    await eventually('one screen', () => page.locator('#adjust').count(), 0);
});

pageTest('a link to a section shows every detail', async () => {
    const page = await open('#best', first);
    await page.locator('#best').waitFor();
    await page.locator('.adjust').waitFor();
});

pageTest('another section in the address is gone to', async () => {
    const page = await open('?depth=detail#plans', first);
    const top = (id) => page.locator(id).evaluate((section) => Math.abs(section.getBoundingClientRect().top) < 100);
    await eventually('in view', () => top('#plans'), true);
    await page.evaluate(() => void (location.hash = 'best'));
    await eventually('the other in view', () => top('#best'), true);
});

pageTest('what is trained, at what price, with what power: changed where it stands', async () => {
    const page = await open('', first);
    const tiles = () => plain(page.locator('.tiles'));
    inOrder(await tiles(), '$');
    await field(page, 'token_budget').fill('15e12');
    await addressHas(page, 'tokens=15000000000000');
    await field(page, 'price_per_gpu_hour').fill('2');
    await addressHas(page, 'price=2');
    await eventually('no currency for a price of one’s own', tiles, (text) => !text.includes('$'));
    await field(page, 'price_per_gpu_hour').fill('');
    await addressLacks(page, 'price');
    await eventually('the list price', tiles, holds('$'));
});

pageTest('on other GPUs: days against money, and the work can be stopped', async () => {
    const page = await open('#cards', first);
    await page.locator('#cards').scrollIntoViewIfNeeded();
    await page.locator('#cards tbody tr').nth(3).waitFor();
    assert.deepEqual(await page.locator('#cards .finders input').evaluateAll((all) => all.map(({ value }) => value)), ['60', '5 million']);
    const room = (cell) => Number.parseFloat(getComputedStyle(cell).paddingRight);
    assert.ok((await page.locator('#cards tbody td').first().evaluate(room)) >= 8, 'a cost stands apart from the note beside it');
    // The work may end by itself at any moment: looked for and pressed in one step.
    await page.locator('#cards .proving button').evaluateAll((all) => all.forEach((button) => button.click()));
    await page.locator('#cards a', { hasText: 'A100 SXM 80 GB' }).first().click();
    await settled(page);
    await verdictIs(page, 'fits', 'at_risk', 'does_not_fit');
    await addressHas(page, 'gpu=a100-sxm-80gb');
});

pageTest('a stranger with a wrong number: said at once, the last answer stays', async () => {
    const page = await open('', first);
    await field(page, 'gpus').fill('many');
    await verdictIs(page, 'cannot');
    await page.locator('.memory .bar').waitFor();
    await field(page, 'gpus').fill('16');
    await verdictIs(page, 'fits');
    const { faults } = await load('', first);
    assert.deepEqual(faults, []);
});

pageTest('why this plan and not the published one: what that would take here', async () => {
    const page = await open('?model=deepseek-v3&gpu=h800-sxm-80gb&gpus=2048&seq=4096&batch=15360', first);
    await page.locator('button[aria-controls=why]').click();
    const said = page.locator('#why .published');
    await said.waitFor();
    assert.match(await plain(said), /DeepSeek-V3 .*\d+(\.\d+)? s/);
    await fitsScreen(page);
    await said.locator('a').first().click();
    await addressHas(page, 'pp=16');
    await addressHas(page, 'dtype=fp8');
});
