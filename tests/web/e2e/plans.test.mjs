// Which plan is best? The list and its drawing, sorted and filtered; what the search leaves out; why not another.
import assert from 'node:assert/strict';
import { eventually, open, pageTest } from './browser.mjs';
import {
    addressHas,
    column,
    degrees,
    field,
    focused,
    inAddress,
    inOrder,
    plain,
    planLine,
    rowAbove,
    rows,
    takePlan,
    unfold,
} from './find.mjs';
import { violations } from './looks.mjs';
import { asked } from './numbers.mjs';
import { words } from './words.mjs';

const job = '?v=2&model=llama-3.1-70b&gpu=h100-sxm-80gb&gpus=64';
const asJob = { model: 'llama-3.1-70b', gpus: 64 };
const finding = (page) => plain(page.locator('#best > .finding'));
const funnel = (page) => page.locator('#best > .funnel');
const head = (page, at) => page.locator(`.ranking thead th:nth-child(${at})`);
const [RANK, TENSOR, GB] = [1, 2, 10]; // columns
const rising = (values) => [...values].sort((a, b) => a - b);

pageTest('the best plans stand in a table, in the order of the core; the first is the plan above; a click takes one', async () => {
    const page = await open(job);
    const { equally_good: ties, tie_width: width } = await asked('rank', asJob);
    const tie = words.tie(ties);
    await eventually('the ranking', () => rowAbove(page), 1);
    const [tensor, pipeline, context, micro, data] = (await rows(page).first().getByRole('cell').allInnerTexts()).map(Number);
    assert.deepEqual(degrees(await planLine(page)).slice(0, 5), [tensor, pipeline, context, data, micro]);
    const told = await eventually('the next plan', () => finding(page), words.nextPlan);
    assert.equal(told.includes(tie), ties > 1);
    assert.equal(await page.locator('.ranking .tie-end').count(), ties > 1 && ties < 20 ? 1 : 0);
    if (ties > 1) inOrder(await plain(page.locator('#best')), tie, `${100 * width} %`);
    await page.locator('[aria-controls=why]').click();
    const why = await plain(page.locator('#why'));
    assert.ok(why.length > 40);
    if (ties > 1) inOrder(why, tie);
    const [, rank] = await column(page, RANK);
    const second = await takePlan(page, rank).getAttribute('aria-label');
    await takePlan(page, rank).click();
    await addressHas(page, `tp=${degrees(second)[0]}`);
    await eventually('the plan above', () => rowAbove(page), 2);
    assert.equal(await plain(page.locator('.plan span.chip')), words.yours);
    // By memory: the column never falls.
    await head(page, GB).getByRole('button').click();
    const sizes = await column(page, GB);
    assert.deepEqual(sizes, rising(sizes));
    assert.match(await page.locator('.ranking [aria-sort=ascending]').innerText(), /^GB\s*▴$/);
    // Back to what the search chooses.
    await page.locator('.adjust .chip.best').click();
    await eventually('the first again', () => plain(page.locator('.plan span.chip')), words.chosen);
    assert.equal(inAddress(page, 'tp'), null);
});

pageTest('what is set bounds the answer, the list stays whole; one click filters it by that', async () => {
    const page = await open(`${job}&tp=2`);
    await rows(page).first().waitFor();
    const opened = page.locator('#best > .note', { has: page.getByRole('button') });
    assert.ok(new Set(await column(page, TENSOR)).size > 1);
    await opened.getByRole('button').click();
    await eventually('tensor 2', async () => [...new Set(await column(page, TENSOR))].join(), '2');
    await eventually('the first is the plan above', () => rowAbove(page), 1);
});

pageTest('every column sorts, both ways, by mouse and by keyboard', async () => {
    const page = await open(job);
    const sorted = page.locator('.ranking [aria-sort$=ending]');
    const sortedBy = () => plain(sorted);
    await rows(page).nth(19).waitFor();
    const { ranked } = await asked('rank', asJob);
    inOrder(await plain(page.locator('#best > .note', { hasText: words.listIsPart }).first()), ranked.toLocaleString('en'));
    const buttons = page.locator('.ranking thead button');
    const heads = await page
        .locator('.ranking thead th')
        .evaluateAll((all) => all.flatMap((one, i) => (one.querySelector('button') ? [i + 1] : [])));
    assert.deepEqual(heads, [1, 2, 3, 4, 5, 6, 8, 9, 10]);
    assert.equal(await buttons.count(), heads.length);
    for (const at of [...heads.slice(1), heads[0]]) {
        for (const down of [false, true]) {
            await head(page, at).getByRole('button').click();
            assert.equal(await sorted.count(), 1);
            assert.equal(await head(page, at).getAttribute('aria-sort'), down ? 'descending' : 'ascending');
            assert.ok((await sortedBy()).endsWith(down ? '▾' : '▴'));
            const values = await column(page, at);
            assert.deepEqual(values, down ? rising(values).reverse() : rising(values), `column ${at}, ${down}`);
        }
    }
    // from the last head back to the memory, and there and back again
    await head(page, GB).getByRole('button').focus();
    await page.keyboard.press('Enter');
    assert.match(await sortedBy(), /^GB ?▴$/);
    await page.keyboard.press('Space');
    assert.match(await sortedBy(), /^GB ?▾$/);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab'); // the first row's plan
    const { label } = await focused(page);
    await page.keyboard.press('Enter');
    await addressHas(page, `tp=${degrees(label)[0]}`);
    assert.match(await sortedBy(), /^GB ?▾$/);
});

const filterBy = (page, label) => page.locator('#best-filters').getByLabel(label);

pageTest('filters look at all plans, and the degrees are those of the map', async () => {
    const page = await open(job);
    const list = page.locator('#best-filters'),
        map = page.locator('#plans .filters').last();
    const tensor = (where) => where.getByLabel(words.tensor);
    const only = (value) => eventually(`tensor ${value}`, async () => [...new Set(await column(page, TENSOR))].join(), value);
    await rows(page).first().waitFor();
    const address = page.url();
    const whole = await eventually('the next plan', () => finding(page), words.nextPlan); // its words come after the list
    await filterBy(page, words.recompute).selectOption('full');
    await eventually(
        'filtered',
        () => finding(page),
        (text) => text.startsWith(words.filtered),
    );
    for (const text of await rows(page).allInnerTexts()) assert.ok(text.includes(words.allRecomputed), text);
    assert.match(await plain(funnel(page)), words.funnel);
    // One state with the map, either way.
    await tensor(map).selectOption('2');
    await only('2');
    assert.equal(await tensor(list).inputValue(), '2');
    await eventually('left out', () => plain(funnel(page)), words.funnelFiltered);
    await tensor(list).selectOption('8');
    await only('8');
    assert.equal(await tensor(map).inputValue(), '8');
    await list.getByRole('button').click(); // all
    await eventually('all', () => finding(page), whole);
    assert.equal(await tensor(map).inputValue(), '');
    assert.equal(page.url(), address, 'filters are no part of the link');
});

pageTest('an empty list says why, names the way out, and is printed with its filters', async () => {
    const page = await open(job);
    await rows(page).first().waitFor();
    const memory = page.locator('#filter-memory'),
        nothing = page.locator('#best > .nothing');
    await filterBy(page, words.recompute).selectOption('full');
    await filterBy(page, words.tensor).selectOption('8');
    // Nothing needs so little; one filter is to blame.
    await memory.fill('much');
    await page.locator('#filter-memory-problem').waitFor();
    await memory.fill('10');
    await eventually(
        'to blame',
        () => plain(nothing),
        (text) => text.includes(words.memoryAtMost(10)),
    );
    assert.match(await finding(page), words.closest);
    await page.emulateMedia({ media: 'print' });
    inOrder(await plain(page.locator('#best .on-paper')), 'TP 8', words.memoryAtMost(10), words.recompute);
    await page.emulateMedia({ media: 'screen' });
    await nothing.getByRole('button').first().click();
    await rows(page).first().waitFor();
    assert.equal((await focused(page)).id, 'best-filters');
    await memory.fill('40');
    await eventually(
        'small plans',
        () => column(page, GB),
        (sizes) => sizes.length > 0 && sizes.every((size) => size <= 40),
    );
});

pageTest('on a phone the filters are folded, and say how many act', async () => {
    const page = await open(job, { width: 390, height: 800 });
    const filters = page.locator('details#best-filters'),
        recompute = filterBy(page, words.recompute);
    await filters.waitFor();
    assert.equal(await recompute.isVisible(), false);
    await filters.locator('summary').click();
    await recompute.selectOption('none');
    await eventually('active', () => filters.locator('summary small').allInnerTexts().then(String), /^1 /);
    for (const width of [390, 1280]) {
        await page.setViewportSize({ width, height: 800 });
        await page.locator(width < 700 ? 'details#best-filters' : 'fieldset#best-filters').waitFor();
        assert.deepEqual(await violations(page, '#best'), []);
    }
    await page.setViewportSize({ width: 390, height: 800 });
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
});

pageTest('what the search leaves out is said, can be put in, and the link keeps it; so it does the risk', async () => {
    const page = await open(job);
    const said = (page) => plain(page.locator('.left-out > p'));
    const box = (at) => page.locator('.left-out').getByRole('checkbox').nth(at); // as in the catalogue
    const [interleaving, zeroBubble, smallStates, onHost, fsdp] = [0, 1, 5, 6, 7].map(box);
    await funnel(page).waitFor();
    const before = await plain(funnel(page));
    inOrder(await said(page), ...words.leftOut);
    await page.locator('.left-out > p button').first().click();
    await addressHas(page, 'left_out=small_states');
    await eventually(
        'without it',
        () => said(page),
        (text) => !text.includes(words.leftOut[0]),
    );
    await unfold(page, '#field-leave_out');
    await smallStates.uncheck();
    await addressHas(page, 'left_out=activation_offload');
    await onHost.uncheck();
    await addressHas(page, 'left_out=megatron_fsdp');
    await fsdp.uncheck();
    await addressHas(page, 'left_out=');
    await eventually('everything', () => page.locator('.left-out > p button').count(), 0);
    await eventually(
        'another search',
        () => plain(funnel(page)),
        (text) => text !== before,
    );
    await interleaving.check();
    await addressHas(page, 'left_out=interleaving');
    await field(page, 'risk').selectOption('0.5');
    await addressHas(page, 'risk=0.5');
    await page.reload();
    await page.mouse.move(2, 2);
    await funnel(page).waitFor();
    await unfold(page, '#field-leave_out');
    assert.deepEqual([await interleaving.isChecked(), await zeroBubble.isChecked()], [true, false]);
    assert.equal(await field(page, 'risk').inputValue(), '0.5');
    const old = await open('?v=1&model=llama-3.1-70b&gpus=64&vary=virtual_stages,schedule,recompute,zero,stage_layers');
    await eventually('what version 1 tried', () => old.locator('.left-out > p button').count(), 3); // what it did not know
    inOrder(await said(old), words.leftOut[1]);
});

pageTest('why not another plan: a slower one, one that is too large, one that cannot be', async () => {
    const page = await open(job);
    const form = page.locator('form.why-not');
    const reply = () => plain(form.getByRole('status'));
    const ask = async (tensor, pipeline = '') => {
        await form.locator('input').nth(0).fill(String(tensor));
        await form.locator('input').nth(1).fill(String(pipeline));
        await form.locator('button[type=submit]').click();
    };
    await ask(8, 2);
    await eventually('slower', reply, words.slowerOrAsFast);
    await ask(1, 1);
    await eventually('too large', reply, words.tooLarge);
    await ask(3);
    await eventually('impossible', reply, words.impossibleSplit);
    await ask('many');
    await eventually('no number', reply, words.noWholeNumber);
});

pageTest('the front is walked by keyboard', async () => {
    const page = await open(job);
    const points = page.locator('.scatter [role=group]');
    await points.locator('[tabindex="0"]').focus();
    const first = (await focused(page)).label;
    await page.keyboard.press('ArrowRight');
    const { label } = await eventually(
        'focus',
        () => focused(page),
        ({ label }) => label !== null && label !== first,
    );
    await page.keyboard.press('Enter');
    await addressHas(page, `tp=${degrees(label)[0]}`);
});

pageTest('more rows come on demand', async () => {
    const page = await open('?v=1&model=llama-3.1-8b&gpus=64');
    await eventually('the ranking', () => rows(page).count(), 20);
    await page.locator('#best > .acts').getByRole('button', { name: /^Show / }).click();
    assert.ok((await rows(page).count()) > 20);
});
