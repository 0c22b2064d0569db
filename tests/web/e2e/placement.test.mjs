// Which node should stand where? Measured links in, an order out.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { eventually, open, pageTest } from './browser.mjs';
import { inOrder, plain } from './find.mjs';
import { everyLook } from './looks.mjs';
import { allReduce, changeNode, even, nodes, openLinks, result, run, search, searchFor, section, stale, title } from './placement.mjs';
import { words } from './words.mjs';

pageTest('the example: a slow link is named, a placement found, its rank file taken', async (t) => {
    const page = await open(run);
    const { text, example } = await openLinks(page);
    await example.click();
    await eventually('the slow link', () => title(page), words.slowLinks);
    assert.match(await text.inputValue(), /^# /);
    const map = section(page).locator('.links-map [role=slider]');
    await map.focus();
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowRight', 'ArrowRight', 'ArrowRight']) await page.keyboard.press(key);
    assert.match(await map.getAttribute('aria-valuetext'), /^node-3 \D+node-4: 4.1.GB\/s, 9.% /);
    await searchFor(page, 1);
    await search(page);
    await eventually('the gain', () => result(page), /^\d+.% /);
    assert.match(await plain(section(page)), words.searchesAgree);
    const pictures = section(page).getByRole('img');
    assert.match(await pictures.nth(0).getAttribute('aria-label'), /node-3 \D+node-4, 4.1.GB/);
    assert.doesNotMatch(await pictures.nth(1).getAttribute('aria-label'), /4.1.GB/);
    const file = section(page).locator('.files details', { hasText: 'hostfile.txt' });
    await file.locator('summary').click();
    const lines = (await file.locator('pre').innerText()).trim().split('\n');
    assert.deepEqual(
        lines.map((line) => line.split(' ')[0]).sort(),
        Array.from({ length: 8 }, (_, i) => `node-${i + 1}`),
    );
    const [saved] = await Promise.all([page.waitForEvent('download'), file.locator('a[download]').click()]);
    assert.equal(saved.suggestedFilename(), 'hostfile.txt');
    assert.equal(readFileSync(await saved.path(), 'utf8').trim(), lines.join('\n'));
    await everyLook(t, page, 'a placement found', { part: '#placement' });
});

pageTest('mistakes are named with row and column, a missing unit is asked for, and what was typed stays', async () => {
    const page = await open(run);
    const { text, unit } = await openLinks(page);
    const wrong = 'GB/s,a,b\na,,12\nb,-3,\n';
    await text.fill(wrong);
    const told = section(page).locator('.wrong');
    await eventually('problem', () => plain(told), words.wrongCell);
    assert.equal(await text.inputValue(), wrong);
    assert.equal(await text.getAttribute('aria-invalid'), 'true');
    await text.fill('a,b\n0,12\n11,0\n');
    await eventually('unit', () => plain(told), words.whichUnit);
    await unit.selectOption('gbyte_per_s');
    await eventually('the links', () => title(page), / 2 /);
    await search(page);
    await eventually('too few', () => plain(section(page)), words.tooFewNodes(8, 2));
});

pageTest('an all_reduce over all GPUs gives every estimate its rates, and the link carries them', async () => {
    const page = await open(run);
    const before = await plain(page.locator('#answer'));
    const { text } = await openLinks(page);
    await text.fill(allReduce({ nodes: 2, latency: 50, gbyteEachSecond: 20 }));
    const use = section(page).locator('.rates button');
    await eventually('the offer', () => plain(use), words.useRates);
    await use.click();
    await eventually('in use', () => plain(use), words.ratesUsed);
    assert.match(page.url(), /[?&]inter=20(&|$)/);
    await eventually('a longer step', async () => (await plain(page.locator('#answer'))) !== before, true);
});

pageTest(
    'a search that is stopped keeps the best so far; a change of the run marks it as older; other plans can be placed too',
    async () => {
        const page = await open(run);
        const { example } = await openLinks(page);
        await example.click();
        await searchFor(page, 30);
        await section(page).locator('.check input[type=checkbox]').check();
        await search(page);
        // Past the first round of one worker at least (60,000 moves for each plan): only a whole round ranks the plans.
        const workers = await page.evaluate(() => Math.max(1, Math.min(4, navigator.hardwareConcurrency - 1)));
        const moves = (text) => {
            const [, number, million] = words.movesTried.exec(text) ?? [];
            return Number((number ?? '0').replaceAll(',', '')) * (million ? 1e6 : 1);
        };
        const running = section(page).locator('.acts', { has: page.locator('span.note') });
        await eventually(
            'progress',
            () => plain(running),
            (text) => moves(text) > workers * 11 * 60_000,
        );
        await running.getByRole('button').click(); // stop
        await eventually(
            'the best so far',
            () => plain(section(page)),
            (text) => text.includes(words.stopped),
        );
        assert.ok((await section(page).locator('pre').count()) === 4);
        const plans = section(page).locator('.joint tbody tr');
        await eventually('plans', () => plans.count(), 11);
        await plans.first().getByRole('button').click(); // take it
        await stale(page);
    },
);

pageTest('a slow node is left out where another is measured, one with little memory is warned of', async (t) => {
    const page = await open(run, { width: 390, colorScheme: 'dark' });
    const { text } = await openLinks(page);
    const differing = section(page).locator('.differing'),
        unfit = section(page).locator('.result-of-placement .unfit');
    await text.fill(even(9));
    await searchFor(page, 1);
    await nodes(page).open();
    await changeNode(page, 0, { name: 'c', speed: '50' });
    await search(page);
    await eventually('the gain', () => result(page), /^\d+.% /);
    await eventually('left out', () => plain(differing), words.leftOutNode('c', '50'));
    assert.equal(await unfit.count(), 0);
    await nodes(page).add();
    await page.keyboard.type('d');
    await stale(page);
    await text.fill(even(8));
    await eventually('other links', () => title(page), / 56 /);
    await changeNode(page, 1, { memory: '4' });
    await search(page);
    await eventually('too little memory', () => unfit.allInnerTexts().then(String), words.unfitNode('d'));
    const where = await plain(differing);
    assert.match(where, words.slowNode('c', '50'));
    assert.match(where, words.smallNode('d', '4'));
    const pictures = section(page).getByRole('img');
    for (const i of [0, 1]) {
        assert.match(await pictures.nth(i).textContent(), /◆ 50.%/);
        assert.equal(await pictures.nth(i).locator('.differs').count(), 2);
    }
    const positions = section(page).locator('.result-of-placement > details.behind');
    await positions.locator('summary').click();
    await positions.locator('td', { hasText: /^◆ 50.% \w+$/ }).waitFor();
    await everyLook(t, page, 'nodes that differ', { part: '#placement', widths: [390, 1280] });
});

pageTest(
    'nodes that cannot be taken are said at their rows, all at once, and nothing is searched; lines can be pasted; what was typed stays',
    async (t) => {
        const page = await open(run);
        const { text } = await openLinks(page);
        const { name, speed, memory, names } = nodes(page);
        await text.fill(even(8));
        await searchFor(page, 1);
        await nodes(page).open();
        await name(0).focus();
        await page.evaluate(() => {
            const data = new DataTransfer();
            data.setData('text/plain', 'b 50 40\nx 90\nc fast\nd 100 0.5\n');
            document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
        });
        await eventually('rows', async () => (await names()).length, 4);
        await search(page);
        const refused = section(page).locator('.step .unfit');
        await eventually('refused', () => refused.allInnerTexts().then(String), / 3 /);
        const said = async (field) => plain(section(page).locator(`[id="${await field.getAttribute('aria-describedby')}"]`));
        for (const wrong of [name(1), speed(2), memory(3)]) assert.equal(await wrong.getAttribute('aria-invalid'), 'true');
        assert.ok((await said(name(1))).length > 10);
        inOrder(await said(speed(2)), '“fast”');
        inOrder(await said(memory(3)), ' 0.5 ');
        assert.equal(await name(0).getAttribute('aria-invalid'), 'false');
        assert.equal(await section(page).locator('.result-of-placement').count(), 0);
        await everyLook(t, page, 'problems at rows', { part: '#placement', widths: [1280] });
        await refused.getByRole('button').click(); // show what is wrong
        await eventually('focus', () => name(1).evaluate((field) => field === document.activeElement), true);
        await page.keyboard.press('ControlOrMeta+A');
        await page.keyboard.type('e');
        await eventually('the others', () => plain(refused), / 2 /);
        await nodes(page).remove(3);
        await changeNode(page, 2, { speed: '' });
        await text.fill(even(8, 30)); // another measurement of the same nodes
        await eventually('other links', () => title(page), / 56 .* 30/);
        assert.deepEqual(await names(), ['b', 'e', 'c']);
        await search(page);
        await eventually(
            'where they are',
            () => section(page).locator('.differing').allInnerTexts().then(String),
            words.bothNode('b', '50', '40'),
        );
    },
);

pageTest('layers spread another way: the gain is said, one click applies it to the run, Back undoes it', async () => {
    const page = await open('?v=1&model=deepseek-v2-lite&gpu=h100-sxm-80gb&gpus=64&tp=2&pp=4&cp=1&mb=1&embl=1');
    const { example } = await openLinks(page);
    await example.click();
    await searchFor(page, 1);
    await search(page);
    const suggestion = section(page).locator('.suggestion'),
        apply = suggestion.getByRole('button');
    await suggestion.waitFor();
    const [, now, was] = words.stepInsteadOf.exec(await plain(suggestion));
    assert.ok(Number(now) < Number(was), `${now} instead of ${was}`);
    const before = page.url();
    await apply.click();
    await stale(page);
    assert.notEqual(page.url(), before);
    assert.match(page.url(), /pp=4/);
    await eventually('applied', () => apply.getAttribute('aria-disabled'), 'true');
    await page.goBack();
    await eventually('undone', () => apply.getAttribute('aria-disabled'), 'false');
    assert.equal(page.url(), before);
});

pageTest('links that are all alike leave nothing to gain', async () => {
    const page = await open(run);
    const { text } = await openLinks(page);
    const cells = (row) => Array.from({ length: 8 }, (_, column) => (row === column ? '' : '40')).join(',');
    await text.fill(`# GB/s\n${Array.from({ length: 8 }, (_, row) => cells(row)).join('\n')}`);
    await eventually('alike', () => title(page), / 56 .* 40.GB/);
    await searchFor(page, 1);
    await search(page);
    await eventually('nothing', () => result(page), words.nothingToGain);
});
