// Do other GPUs help, and who should do what?
import assert from 'node:assert/strict';
import { eventually, open, pageTest } from './browser.mjs';
import { addressHas, plain } from './find.mjs';

const POOLS = '?v=2&model=llama-3.1-8b&gpu=a100-sxm-80gb&gpus=8&batch=512&pools=h100-sxm-80gb_8#pools';

pageTest('a link holds the further GPUs; each has its work, and every way its step', async () => {
    const page = await open(POOLS);
    const room = page.locator('#pools');
    await eventually('the pool', () => room.locator('#pool-1-gpus').inputValue(), '8');
    await room.locator('button.prime').click();
    await room.locator('.takes').waitFor();
    assert.match(await plain(room.locator('.takes')), /8 × A100 SXM 80 GB and 8 × H100 SXM 80 GB together take .* a step/);
    assert.deepEqual(await room.locator('tbody').evaluateAll((all) => all.map((one) => one.rows.length)), [2, 4]);
    await room.locator('#pool-1-gpus').fill('16');
    await addressHas(page, 'pools=h100-sxm-80gb_16');
    await eventually('the old answer', () => room.locator('.takes').count(), 0);
});

pageTest('a link to the room opens it, and no side scrolls on a phone', async () => {
    const page = await open('?gpus=8#pools');
    await page.locator('#pool-1-gpus').waitFor();
    await page.setViewportSize({ width: 390, height: 800 });
    await page.locator('#pools button.prime').click();
    await page.locator('#pools .takes').waitFor();
    const beyond = () => page.locator('#pools td').evaluateAll((all) => all.filter((one) => one.getBoundingClientRect().right > innerWidth).length);
    await eventually('cells beyond the screen', beyond, 0);
    const wide = () => page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
    await eventually('too wide', wide, false);
});
