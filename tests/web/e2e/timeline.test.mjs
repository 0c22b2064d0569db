// Who waits for whom in a step?
import assert from 'node:assert/strict';
import { eventually, open, pageTest } from './browser.mjs';
import { option, plain } from './find.mjs';
import { fourStages } from './numbers.mjs';
import { words } from './words.mjs';

async function openTimeline() {
    const page = await open(fourStages);
    const part = page.locator('.timeline'),
        lanes = part.getByRole('slider');
    await lanes.waitFor();
    return { page, part, lanes, wide: () => lanes.evaluate((frame) => frame.scrollWidth / frame.clientWidth) };
}

pageTest('the timeline tells every pass, and zooms by keyboard', async () => {
    const { page, part, lanes, wide } = await openTimeline();
    assert.match(await plain(part.locator('.finding')), words.pace(4));
    await eventually(
        'painted',
        () =>
            lanes.locator('canvas').evaluate((canvas) => {
                const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
                return new Set(Array.from({ length: data.length / 400 }, (_, i) => data.slice(i * 400, i * 400 + 4).join())).size;
            }),
        (colours) => colours > 3,
    );
    // To a pass of another stage, larger and back.
    const told = () => lanes.getAttribute('aria-valuetext');
    await lanes.focus();
    await page.keyboard.press('Home');
    await eventually('the first pass of the slowest stage', told, words.passOf(4, 'F', 1));
    await page.keyboard.press('ArrowRight');
    await eventually('the next', told, words.passOf(4, 'B', 1));
    await page.keyboard.press('ArrowUp');
    await eventually('another stage', told, words.thenWaits(3));
    assert.equal(await wide(), 1);
    await page.keyboard.press('+');
    await page.keyboard.press('+');
    await eventually('zoomed', wide, (times) => times > 2.5 && times < 2.6);
    await page.keyboard.press('0');
    await eventually('whole', wide, 1);
    await page.keyboard.press('End');
    await eventually('the last pass', told, words.passOf(3, 'B', 16));
});

pageTest('the timeline tells every wait, zooms by dragging, and follows the plan', async () => {
    const { page, part, lanes, wide } = await openTimeline();
    await lanes.focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowUp'); // now on stage 3
    // A wait is told too; dragging enlarges a stretch; the wheel with Ctrl, and the buttons.
    const box = await lanes.boundingBox();
    await page.mouse.move(box.x + 2, box.y + box.height - 40);
    await eventually('waiting', () => plain(part.locator('.readout')), words.waits(4));
    await page.mouse.move(box.x + 100, box.y + 60);
    await page.mouse.down();
    await page.mouse.move(box.x + 300, box.y + 60, { steps: 3 });
    await page.mouse.up();
    await eventually('enlarged', wide, (times) => Math.abs(times - box.width / 200) < 0.1);
    const before = await wide();
    await page.keyboard.down('Control');
    await page.mouse.wheel(0, 100);
    await page.keyboard.up('Control');
    await eventually('smaller', wide, (times) => times < before);
    const [out, , whole] = await part.locator('.zoom button').all();
    await whole.click();
    await eventually('whole', wide, 1);
    assert.equal(await out.getAttribute('aria-disabled'), 'true');
    // The numbers, and another plan.
    const [stages, passes] = [0, 1].map((i) => part.locator('details.behind').nth(i));
    await stages.locator('summary').click();
    await eventually('stages', () => stages.locator('tbody th').allInnerTexts().then(String), '1,2,3,4');
    assert.match(await plain(passes.locator('summary')), / 2 /); // the one last pressed, wherever the pointer went since
    await passes.locator('summary').click();
    await eventually('passes', () => plain(passes.locator('tbody tr').first()), words.firstPass);
    await option(page, 'pipeline_parallel', 8).click();
    await eventually('eight stages', () => plain(part.locator('.finding')), words.pace(8));
});
