// What if the length, the batch or the GPUs change on the way?
import assert from 'node:assert/strict';
import { eventually, open, pageTest } from './browser.mjs';
import { addressHas, plain } from './find.mjs';

const ROOM = '#phases';
const PHASES = '?gpus=8&phases=1e12_8192_4194304_8,1e10_131072_4194304_16;keep_degrees=true#phases';

pageTest('a link holds the phases; each has a plan, and the days are summed', async () => {
    const page = await open(PHASES);
    const room = page.locator(ROOM);
    await eventually('the phases', () => room.locator('#phase-2-sequence_length').inputValue(), '131,072');
    await room.locator('button.prime').click();
    await room.locator('.days-bar').waitFor();
    assert.equal(await room.locator('[role=status] tbody tr').count(), 2);
    assert.match(await plain(room.locator('.takes')), /\d/);
    const touching = await room.locator('[role=status] tbody tr > *').evaluateAll((cells) =>
        cells.filter((cell, i) => {
            const text = document.createRange();
            text.selectNodeContents(cell);
            const next = cells[i + 1]?.getBoundingClientRect();
            return next && next.top === cell.getBoundingClientRect().top && next.left - text.getBoundingClientRect().right < 8;
        }).length,
    );
    assert.equal(touching, 0, 'cells keep apart');
    await page.setViewportSize({ width: 390, height: 800 });
    const plan = await room.locator('[role=status] tbody td').first().boundingBox();
    assert.ok(plan.width > 150, `a plan is read on a phone: ${plan.width} px`);
    await room.locator('#phase-2-gpus').fill('24');
    await addressHas(page, '_131072_4194304_24;keep_degrees=true');
    await eventually('the old answer', () => room.locator('.days-bar').count(), 0);
});

pageTest('on a phone every number of a phase is read whole, and stands below its name', async () => {
    const page = await open(PHASES, { width: 390, height: 844 });
    const room = page.locator(ROOM);
    await room.getByRole('button', { name: 'Llama 3.1 405B' }).click();
    await room.locator('button.prime').click();
    await room.locator('.days-bar').waitFor();
    const cut = await room.locator(':is(td, th[scope=row])').evaluateAll((cells) =>
        cells.filter((cell) => {
            const { left, right } = cell.getBoundingClientRect();
            const [field] = cell.getElementsByTagName('input');
            return left < 0 || right > innerWidth || (field && field.scrollWidth > field.clientWidth) || !cell.checkVisibility();
        }).map((cell) => cell.outerHTML),
    );
    assert.deepEqual(cut, []);
    const nameOf = (cell) => cell.evaluate((one) => getComputedStyle(one, '::before').content);
    assert.equal(await nameOf(room.locator('.rows tbody td').nth(3)), '"GPUs"');
    assert.equal(await nameOf(room.locator('[role=status] tbody td').last()), '"Memory"');
});

pageTest('a link to the room opens it, and no side scrolls on a phone', async () => {
    const page = await open('?gpus=8#phases');
    await page.locator('#phase-1-tokens').waitFor();
    await page.setViewportSize({ width: 390, height: 800 });
    const wide = () => page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
    await eventually('too wide', wide, false);
});

pageTest('what is wrong is said at its field, and Back undoes one change after the other', async () => {
    const page = await open('?gpus=8&depth=detail#phases');
    const tokens = page.locator('#phase-1-tokens');
    const before = await tokens.inputValue();
    await tokens.fill('many');
    await page.locator(`${ROOM} button.prime`).click();
    await page.locator(`${ROOM} .problems`).waitFor();
    assert.equal(await tokens.getAttribute('aria-invalid'), 'true');
    const told = await page.locator(`[id="${await tokens.getAttribute('aria-describedby')}"]`).innerText();
    assert.match(told, /“many”/);
    assert.equal(await tokens.inputValue(), 'many');
    await page.locator('#phase-1-gpus').fill('2 nodes');
    await addressHas(page, '_16#');
    await page.goBack();
    await eventually('the field before', () => page.locator('#phase-1-gpus').inputValue(), '8');
    assert.equal(await tokens.inputValue(), 'many');
    await page.goBack();
    await eventually('as it was opened', () => tokens.inputValue(), before);
    await page.goForward();
    await eventually('forward', () => tokens.inputValue(), 'many');
});
