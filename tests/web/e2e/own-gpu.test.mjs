// A GPU that is not in the list, by its numbers: typed, in the link, in every room.
import assert from 'node:assert/strict';
import { eventually, open, pageTest, reload } from './browser.mjs';
import { addressHas, addressLacks, field, headline, headlineIs, plain, plainAll, unfold, verdictIs } from './find.mjs';
import { violations } from './looks.mjs';

const SIZES = [
    [1280, 800],
    [390, 844],
];
const number = (page, key) => page.locator(`[id="field-gpu.${key}"]`);

pageTest('chosen, it starts as the GPU before it; its memory is typed, the answer follows, and the link says the same', async () => {
    for (const [width, height] of SIZES) {
        const page = await open('', { depth: 'plain', width, height });
        const before = await plain(headline(page));
        await field(page, 'gpu').selectOption('custom');
        await addressHas(page, 'gpu=custom');
        await number(page, 'memory_gib').fill('48 GB');
        await headlineIs(page, / 48 /);
        await verdictIs(page, 'does_not_fit', 'at_risk', 'fits');
        await addressHas(page, 'gpu.mem=48');
        const after = await plain(headline(page));
        assert.notEqual(after, before);
        assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0, 'nothing is too wide');
        assert.deepEqual(await violations(page), []);
        await reload(page);
        assert.equal(await plain(headline(page)), after);
        assert.equal(await field(page, 'gpu').evaluate((select) => select.selectedOptions[0].textContent), 'My GPU');
        assert.equal(await number(page, 'memory_gib').inputValue(), '48');
        await field(page, 'gpu').selectOption('h100-sxm-80gb');
        await addressLacks(page, 'gpu.mem');
        await headlineIs(page, / 80 /);
        assert.equal(await plain(headline(page)), before);
    }
});

pageTest('a number that no GPU has is explained at its field, the last answer stays, and one tap mends it', async () => {
    const page = await open('?gpu=custom&gpu.name=Nimbus&gpu.base=a100-sxm-80gb&gpu.mem=96', { depth: 'plain' });
    await unfold(page, '[id="field-gpu.memory_gib"]');
    await number(page, 'memory_gib').fill('0');
    await eventually('wrong', () => number(page, 'memory_gib').getAttribute('aria-invalid'), 'true');
    assert.equal(await number(page, 'memory_gib').inputValue(), '0');
    await page.locator('#answer .problems .remedy button').click();
    await addressHas(page, 'gpu.mem=1');
    await number(page, 'memory_gib').fill('192');
    await headlineIs(page, / 192 /);
});

pageTest('it stands by its name in the table of GPUs and among the plans put aside', async () => {
    const page = await open('?gpu=custom&gpu.name=Nimbus+192&gpu.base=h200-sxm-141gb&gpu.mem=192&gpu.price=1.5');
    await page.locator('#cards').scrollIntoViewIfNeeded();
    await eventually('its row', async () => (await plainAll(page.locator('#cards tbody th')))[0] ?? '', 'Nimbus 192');
    const link = await page.locator('#cards tbody th a').first().getAttribute('href');
    assert.match(link, /gpu=custom.*gpu\.mem=192/);
    await page.locator('#answer .plan .acts button:not([aria-controls]):not([aria-haspopup])').click();
    await addressHas(page, 'pin=');
    await field(page, 'gpu').selectOption('h200-sxm-141gb');
    await eventually('the row of GPUs', () => plain(page.locator('#compare section.scroll')), /H200 SXM 141 GB Nimbus 192/);
});
