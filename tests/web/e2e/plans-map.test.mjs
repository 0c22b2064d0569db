// The map of all plans, by number of GPUs.
import assert from 'node:assert/strict';
import { eventually, open, pageTest } from './browser.mjs';
import { addressHas, focused, inAddress, verdictIs } from './find.mjs';
import { answerOf, three } from './numbers.mjs';
import { words } from './words.mjs';

const grid = (page) => page.locator('#plans [role=grid]');

pageTest('a click on a cell opens that plan', async () => {
    const page = await open('?v=1&model=llama-3.1-70b&gpu=h100-sxm-80gb&gpus=64');
    const cell = grid(page).locator('.cell.fits[aria-label^="64 "]').first();
    const gib = Number(/: ([\d.]+) GiB/.exec(await cell.getAttribute('aria-label'))[1]);
    await cell.click();
    await eventually(
        'amount',
        async () => Number((await page.locator('.items:not(.time-items) tbody.total').last().locator('td').first().innerText()).replaceAll(',', '')),
        (now) => Math.abs(now - gib) < 0.06,
    );
    await verdictIs(page, 'fits');
    for (const key of ['tp=', 'pp=', 'cp=', 'mb=']) await addressHas(page, key);
    assert.equal(inAddress(page, 'rc'), null, 'everything else is chosen');
});

pageTest('arrow keys move, Enter opens', async () => {
    const page = await open();
    await grid(page).locator('[tabindex="0"]').focus();
    const first = (await focused(page)).label;
    await page.keyboard.press('ArrowRight');
    const { label } = await eventually(
        'focus',
        () => focused(page),
        ({ label }) => label !== first && /^[\d,]+ \S+: /.test(label ?? ''),
    );
    await page.keyboard.press('Enter');
    await addressHas(page, `gpus=${/^[\d,]+/.exec(label)[0].replaceAll(',', '')}`);
});

pageTest('the map shows the speed too', async () => {
    const page = await open();
    await page.locator('#plans .switch button').nth(1).click();
    const cell = grid(page).locator('.cell.mark-current[aria-label^="8 "]');
    const label = await eventually(
        'the speed',
        () => cell.getAttribute('aria-label'),
        (text) => text.includes(three(answerOf('default').time.tokens_per_s_per_gpu)),
    );
    assert.match(label, words.cellOfSpeed);
});
