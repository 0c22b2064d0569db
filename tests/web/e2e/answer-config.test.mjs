// A model of the reader's own: a config.json pasted or dropped.
import assert from 'node:assert/strict';
import { eventually, open, pageTest } from './browser.mjs';
import { addressHas, field, headline, headlineIs, notice, pasteDialog, plain } from './find.mjs';
import { llama } from './numbers.mjs';

const TOO_LARGE = 26_000_000; // for a log too
const drop = (page, text) =>
    page.evaluate((text) => {
        const data = new DataTransfer();
        data.items.add(new File([typeof text === 'number' ? 'x'.repeat(text) : text], 'config.json', { type: 'application/json' }));
        document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
    }, text);

pageTest('a pasted config gives the same answer as the built-in model, and a link that carries it', async () => {
    const page = await open();
    const before = await plain(headline(page));
    const { dialog, text, use } = await pasteDialog(page);
    await text.fill(JSON.stringify(llama, null, 2));
    await dialog.locator('#paste-result h3', { hasText: '8,030,261,248' }).waitFor();
    await use.click();
    await addressHas(page, 'model=custom');
    await headlineIs(page, (now) => now === before);
    const again = await open(new URL(page.url()).search);
    await headlineIs(again, (now) => now === before);
});

pageTest('a config can be dropped anywhere on the page', async () => {
    const page = await open();
    await drop(page, JSON.stringify({ ...llama, num_hidden_layers: 16 }));
    const dialog = page.getByRole('dialog');
    await dialog.locator('#paste-result > h3').waitFor();
    await dialog.locator('button[type=submit]').click();
    await addressHas(page, 'model.num_hidden_layers=16');
});

pageTest('what is no config is explained, and cannot be used', async () => {
    const page = await open();
    const before = await plain(headline(page));
    const { dialog, text, use, wrong } = await pasteDialog(page);
    for (const no of [
        '{',
        '[1, 2]',
        'hello',
        '{"model_type": "bert"}',
        '{"hidden_size": "wide"}',
        '<html>',
        '{"model_type": "llama", "hidden_size": 1e99}',
    ]) {
        await text.fill(no);
        await wrong.locator('li').first().waitFor();
        await use.click({ force: true }); // it says that it is disabled
        assert.ok(await dialog.isVisible(), no);
        await text.fill('');
        await dialog.locator('#paste-result > p.note').waitFor();
    }
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    assert.equal(await plain(headline(page)), before);
});

pageTest('ten megabytes are refused before they reach the field, and the page goes on', async () => {
    const page = await open();
    const { dialog, text } = await pasteDialog(page);
    await text.focus();
    const taken = await page.evaluate(() => {
        const data = new DataTransfer();
        data.setData('text/plain', '{"a":1,'.repeat(1_500_000));
        return document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
    });
    assert.equal(taken, false);
    await eventually('refused', () => plain(dialog.locator('#paste-result .wrong')), /10\.5 MB.*1 MB/);
    assert.equal(await text.inputValue(), '');
    await dialog.locator('button[type=button]').click();
    await field(page, 'gpus').fill('16');
    await addressHas(page, 'gpus=16');
});

pageTest('a file that is too large for a log is refused when it is dropped', async () => {
    const page = await open();
    await drop(page, TOO_LARGE);
    await eventually('notice', () => notice(page), /26\.0 MB/);
});
