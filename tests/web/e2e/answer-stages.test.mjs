// What fills each stage, and how the memory of one goes over a step.
import assert from 'node:assert/strict';
import { eventually, open, pageTest } from './browser.mjs';
import { amount, headlineIs, inAddress, later, part, plain, stages } from './find.mjs';
import { answerOf, fourStages, gib } from './numbers.mjs';
import { tell } from './said.mjs';
import { words } from './words.mjs';

const peak = (page) => plain(page.locator('.step .finding'));
const items = (page) => plain(page.locator('.items:not(.time-items) thead th').first());

pageTest('a stage is chosen by keyboard; its items and its curve follow', async () => {
    const answer = answerOf('llama-70b-64-h100');
    const page = await open(fourStages);
    const list = stages(page);
    await list.waitFor();
    assert.equal(await plain(page.locator('.stages > .finding')), tell(answer.worst_why));
    assert.equal(await list.locator('[aria-pressed=true]').count(), 1);
    await list.locator('[tabindex="0"]').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await eventually(
        'the items',
        () => items(page),
        (text) => text.includes('3'),
    );
    const showing = page.locator('.stages .showing');
    assert.match(await plain(showing), /3 \D+ 4\D/);
    assert.equal(await amount(page), Number(gib(answer.stages[2].bytes)));
    assert.equal(await part(page, 'outside').count(), 0);
    await eventually('the curve', () => peak(page), / 3\d\.\d GB/);
    assert.equal(inAddress(page, 'stage'), null);
    await headlineIs(page, /52 of its 80 GB/); // the verdict stays the fullest stage's
    await showing.getByRole('button').click();
    await eventually('amount', () => amount(page), Number(gib(answer.total_bytes)));
});

pageTest('the curve tells every pass, and its numbers stand in a table', async () => {
    const page = await open(fourStages);
    await eventually('finding', () => peak(page), words.peakOfBackward);
    const curve = page.locator('.step [role=slider]');
    assert.match(await curve.locator('path.top').getAttribute('d'), /^M[\d.]+ [\d.]+(L[\d.]+ [\d.]+)+$/);
    await curve.focus();
    await page.keyboard.press('Home');
    const told = () => curve.getAttribute('aria-valuetext');
    await eventually('first pass', told, words.forwardOf(1));
    await page.keyboard.press('ArrowRight');
    await eventually('second pass', told, words.forwardOf(2));
    await page.locator('.step details.behind > summary').click();
    const {
        curve: { bytes },
    } = answerOf('llama-70b-64-h100');
    const rows = await page
        .locator('.step table tbody tr')
        .evaluateAll((all) => all.slice(0, 2).map(({ cells }) => Array.from(cells, (cell) => cell.textContent)));
    assert.deepEqual(
        rows.map((row) => row.slice(1)),
        [
            ['1', '1', '0.0', '1.0', gib(bytes[0])],
            ['2', '1', '1.0', '2.0', gib(bytes[1])],
        ],
    );
    assert.ok(await page.getByText(words.curveCut).isVisible());
});

pageTest('one stage needs no chart of stages; the curve comes when it is opened', async () => {
    const page = await open('?v=2&pp=1');
    assert.equal(await page.locator('.stages').count(), 0);
    await later(page, words.curve).click();
    await page.locator('.step [role=slider]').waitFor();
});

pageTest('126 stages stay usable', async () => {
    const page = await open('?v=1&model=llama-3.1-405b&gpus=2016&pp=126&tp=8&mb=1&batch=2048', { width: 390 });
    const list = stages(page);
    await list.waitFor();
    assert.equal(await list.getByRole('button').count(), 126);
    await list.locator('[tabindex="0"]').focus();
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    await eventually(
        'the items',
        () => items(page),
        (text) => text.includes('126'),
    );
});
