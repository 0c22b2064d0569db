// Does it fit? The sentence, the bar and its formulas, models with experts.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dist, eventually, follow, open, pageTest } from './browser.mjs';
import { addressHas, card, changes, chooseModel, field, headlineIs, inOrder, part, plain, planLine, takes, verdictIs } from './find.mjs';
import { answerOf, gib, grouped, used } from './numbers.mjs';
import { words } from './words.mjs';

pageTest('the default page says the golden sentence', async () => {
    const page = await open();
    await verdictIs(page, 'fits');
    await headlineIs(page, (text) => text.includes(used(answerOf('default'))));
    inOrder(await page.title(), 'Llama 3.1 8B', words.fits, 'Fourfold');
});

pageTest('without JavaScript the built file carries the same sentence', async () => {
    const html = readFileSync(`${dist}index.html`, 'utf8')
        .replace(/<[^>]*>/g, ' ')
        .replace(/\s+/g, ' ');
    assert.ok(html.includes(used(answerOf('default'))), html.slice(0, 500));
});

pageTest('the sentence becomes another when an input does', async () => {
    const page = await open();
    const first = await takes(page);
    await field(page, 'sequence_length').fill('16384');
    await eventually(
        'another time',
        () => takes(page),
        (text) => text !== first,
    );
    await field(page, 'gpus').fill('64');
    await addressHas(page, 'gpus=64');
    await field(page, 'gpu').selectOption({ label: 'A100 SXM 40 GB' });
    await headlineIs(page, / 40 GB/);
    await addressHas(page, 'gpu=a100-sxm-40gb');
});

pageTest('a model is found by typing', async () => {
    const page = await open();
    await chooseModel(page, '3.1 70', /Llama 3\.1 70B/);
    await verdictIs(page, 'does_not_fit');
    await addressHas(page, 'model=llama-3.1-70b');
    // The way out that the page offers.
    await changes(page)
        .filter({ hasText: words.moreGpus, has: page.locator('.word.fits') })
        .first()
        .click();
    await verdictIs(page, 'fits');
});

pageTest('a part of the bar opens its formula with symbols, numbers and source', async () => {
    const page = await open();
    for (const id of ['weights', 'gradients', 'optimizer', 'activations', 'outside']) {
        await part(page, id).click();
        const shown = card(page, id);
        await shown.waitFor();
        await shown.locator('.formula dd').first().waitFor();
        const [, , result, source] = await shown.locator('.formula dd').allInnerTexts();
        assert.match(result, /^[\d,]+ \w+ = [\d.,]+ GiB$/);
        assert.ok((await shown.locator('.formula .symbol[aria-label*=", "]').count()) > 0, 'symbols that explain themselves');
        assert.match(await shown.getByRole('link').first().getAttribute('href'), /^https:\/\//);
        assert.match(source, /[^,]+, \S/, 'the source, and where in it');
    }
});

pageTest('the numbers of a formula are those of the answer', async () => {
    const page = await open();
    await part(page, 'weights').click();
    await card(page, 'weights').locator('.formula dd').first().waitFor();
    const [{ bytes, numbers }] = answerOf('default').groups[0].items; // 2·P
    inOrder(await plain(card(page, 'weights')), `${numbers[0]}·${grouped(numbers[2])} `, `${grouped(bytes)} `, ` = ${gib(bytes)} GiB`);
});

pageTest('expert parallel is chosen, said, and can be set', async () => {
    const experts = async (page) => words.expertsOver.exec(await planLine(page))?.[1];
    const page = await open('?model=mixtral-8x7b&gpus=32');
    await verdictIs(page, 'fits');
    await eventually(
        'the plan',
        () => experts(page),
        (count) => count !== undefined,
    );
    await follow(page, '?model=mixtral-8x7b&gpus=32&ep=2');
    await eventually('the plan', () => experts(page), '2');
});
