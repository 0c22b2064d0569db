// The answer for somebody else: link, text, Markdown, picture; the dialog by keyboard and for everybody.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { load, open, pageTest } from './browser.mjs';
import { catchCopies, headline, inOrder, plain } from './find.mjs';
import { everyLook, fitsScreens } from './looks.mjs';
import { fourStages } from './numbers.mjs';
import { say } from './said.mjs';

const link = `${fourStages}&tokens=1e12&price=2.5`;
const shareButton = (page) => page.locator('#answer').getByRole('button', { name: say('answer.share'), exact: true });

async function opened(query = link, options = {}) {
    const page = await open(query, options);
    await shareButton(page).click();
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    return { page, dialog, button: (id) => dialog.getByRole('button', { name: say(id), exact: true }) };
}

pageTest('what the button opens is not part of the first load', async () => {
    const { page } = await load();
    const files = () => page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name));
    assert.ok(!(await files()).some((name) => /panel/.test(name)));
});

pageTest('link, text and Markdown lead back to the same run', async () => {
    const { page, button } = await opened();
    const copy = await catchCopies(page);
    const address = await copy(button('share.copy_link'));
    const text = await copy(button('share.copy_text'));
    const markdown = await copy(button('share.copy_markdown'));
    inOrder(text.replace(/\s+/g, ' '), 'Llama 3.1 70B', '64 × H100', 'One step takes', address);
    inOrder(markdown, '**[Llama 3.1 70B', `](${address})**`, '- One step takes');
    const said = await plain(headline(page));
    const again = await open(new URL(address).search);
    assert.equal(await plain(headline(again)), said);
});

// Lines of the drawing that do not stand within it.
const outside = (drawing) =>
    drawing.evaluate(
        (svg) =>
            [...svg.querySelectorAll('tspan')].filter((one) => {
                const { left, right, top, bottom } = one.getBoundingClientRect();
                const frame = svg.getBoundingClientRect();
                return left < frame.left || right > frame.right || top < frame.top || bottom > frame.bottom;
            }).length,
    );

async function saved(page, button) {
    const download = page.waitForEvent('download');
    await button.click();
    const file = await download;
    return { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) };
}

pageTest('the picture is saved as PNG and SVG, 1200 × 630, with the numbers of the page', async () => {
    const { page, dialog, button } = await opened();
    const svg = await saved(page, button('share.save_svg'));
    assert.equal(svg.name, 'fourfold-llama-3.1-70b-64-h100-sxm-80gb.svg');
    const text = svg.bytes.toString().replace(/<[^>]*>/g, ' ').replace(/&nbsp;|\s+/g, ' ');
    const [, used] = /needs (\d+) of its 80 GB/.exec((await plain(headline(page))).replace(/\s+/g, ' '));
    inOrder(text, say('answer.fits'), 'Llama 3.1 70B', `${used} of 80 GB`, 'trillion tokens', 'Cost: ', 'gpus=64');
    const png = await saved(page, button('share.save_png'));
    assert.match(png.name, /\.png$/);
    assert.equal(png.bytes.subarray(1, 4).toString(), 'PNG');
    assert.deepEqual([png.bytes.readUInt32BE(16), png.bytes.readUInt32BE(20)], [1200, 630]);
    assert.ok(png.bytes.length > 15_000, 'something is drawn');
    assert.equal(await outside(dialog.locator('.picture svg')), 0);
});

pageTest('by keyboard: opened, left with Escape, and the focus is back on the button', async () => {
    const page = await open(link);
    await shareButton(page).focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    for (let i = 0; i < 12; ++i) {
        await page.keyboard.press('Tab');
        assert.ok(await page.evaluate(() => document.activeElement === document.body || document.activeElement.closest('dialog') !== null));
    }
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    assert.equal(await page.evaluate(() => document.activeElement.textContent), say('answer.share'));
});

pageTest('the dialog in every look and language', async (t) => {
    const { page, dialog } = await opened();
    await dialog.locator('summary').click();
    await everyLook(t, page, 'sharing', { part: 'dialog' });
});

for (const lang of ['ja', 'zh']) {
    pageTest(`a run that does not fit, shared in ${lang}: the lines of the picture stay inside`, async () => {
        const page = await open(`?v=2&model=llama-3.1-405b&gpus=8&tokens=1e12&lang=${lang}`, { width: 390 });
        await page.locator('#answer .prime[aria-haspopup=dialog]').click();
        const drawing = page.locator('dialog .picture svg');
        await drawing.waitFor();
        assert.equal(await outside(drawing), 0);
        await fitsScreens(page, 'sharing');
    });
}
