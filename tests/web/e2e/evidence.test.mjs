// Why should I trust it? The reader's own measured runs beside the estimates.
import assert from 'node:assert/strict';
import { eventually, load, open, pageTest, settled } from './browser.mjs';
import { addressHas, addressLacks, later, plain, takes } from './find.mjs';
import { fitsScreen, violations } from './looks.mjs';
import { words } from './words.mjs';

const own = '?v=1&model=llama-3.1-8b&gpu=h100-sxm-80gb&gpus=64&batch=512';
const head = 'gpus,tp,pp,cp,mb,step_seconds';
// 1.3 times the estimates, and a little more or less
const five = `${head}\n64,1,4,1,1,9.2\n64,2,2,1,1,9.5\n128,2,1,1,2,4.5\n128,4,1,1,4,5.05\n256,1,2,1,1,2.52\n`;
const apply = (page) => page.locator('.calibrate button.prime');
const said = (page) => plain(page.locator('#calibrate-result'));
const openPart = async (page) => {
    await later(page, words.calibrate).click();
    const runs = page.locator('.calibrate textarea');
    await eventually('header', () => runs.inputValue(), `${head}\n`);
    return runs;
};

pageTest('runs give a factor, which is applied, taken back by the browser, applied again and removed', async () => {
    const page = await open(own);
    const runs = await openPart(page);
    const before = await takes(page);
    await runs.fill(five);
    await page.locator('.calibrate h3', { hasText: words.calibrated }).waitFor();
    await apply(page).click();
    await addressHas(page, 'factor=1.');
    const after = await eventually(
        'time',
        () => takes(page),
        (now) => now !== before,
    );
    await eventually('in use', () => apply(page).getAttribute('aria-disabled'), 'true');
    await page.goBack();
    await eventually('time', () => takes(page), before);
    assert.equal(await runs.inputValue(), five); // nothing typed is lost
    await apply(page).click();
    await eventually('time', () => takes(page), after);
    await page.locator('.calibrate textarea + .acts button').nth(1).click(); // remove it
    await addressLacks(page, 'factor');
    await eventually('time', () => takes(page), before);
    await page.locator('.calibrate summary').click();
    await eventually('rows', () => page.locator('.calibrate tbody tr').count(), 5);
    assert.deepEqual(await violations(page, '.calibrate'), []);
});

pageTest('a table with the names of others, in tokens a second, gives a proposal; the answer then says how many runs', async () => {
    const page = await open(own);
    const runs = await openPart(page);
    const theirs = ['World Size;tensor-model-parallel-size;PP;MBS;tok/s', '64;1;4;1;455903', '64;2;2;1;441506', '128;2;1;2;932068', '128;4;1;4;830555', '256;1;2;1;1664406'];
    await runs.fill(theirs.join('\n'));
    await page.locator('.calibrate h3', { hasText: words.calibrated }).waitFor();
    assert.equal(await page.locator('.calibrate select').count(), 0);
    await apply(page).click();
    await addressHas(page, 'truns=5');
    await eventually('runs', () => plain(page.locator('#answer .calibrated')), /\b5\b/);
    await runs.fill(theirs.join('\n').replace('tok/s', 'TFLOP/s'));
    await eventually('asked', () => page.locator('.calibrate select option').count(), 5);
    await runs.fill(theirs.join('\n').replace('PP;', 'pipelin;'));
    await eventually('named', () => said(page), /“pipelin”.*pipeline/);
});

pageTest('one run never rescales; a line of nonsense is named and stays; the plan shown becomes a line', async () => {
    const page = await open(`${own}&tp=2&pp=2&cp=1&mb=1`);
    const runs = await openPart(page);
    await page.locator('.calibrate textarea + .acts button').first().click(); // add the plan shown
    await eventually('line', () => runs.inputValue(), `${head}\n64,2,2,1,1,`);
    await eventually('no time yet', () => said(page), / 2: step_seconds /);
    await page.keyboard.type('9.3'); // the cursor waits where the time belongs
    await eventually('one run', () => said(page), words.oneRun);
    assert.equal(await apply(page).count(), 0);
    await runs.fill(`${five}64,3,1,1,1,oops`);
    await eventually('nonsense', () => said(page), / 7: step_seconds .*“oops”/);
    assert.equal(await apply(page).count(), 0);
    assert.match(await runs.inputValue(), /oops$/);
});

pageTest('what was measured and the famous runs come with the reader; a famous run opens in the page', async () => {
    const page = await open();
    assert.equal(await page.locator('#evidence table').count(), 0); // nothing of it is fetched before
    await page.locator('nav a[href="#evidence"]').click();
    await page.locator('#evidence .proof-table').first().waitFor();
    const famous = page.locator('#evidence .proof-table').last();
    const rows = await famous.locator('tbody tr').count();
    await eventually('calculated', () => plain(page.locator('#evidence .proving')), new RegExp(`\\b${rows}\\b.*\\.$`));
    assert.equal(await page.locator('#evidence .proving button').count(), 0);
    assert.deepEqual(await violations(page, '#evidence'), []);
    for (const width of [1280, 390, 320]) {
        await page.setViewportSize({ width, height: 900 });
        await fitsScreen(page, `the section at ${width} px`);
    }
    const [first] = await famous.locator('tbody tr').all();
    const name = await plain(first.locator('a').first());
    await first.locator('a').first().click();
    await eventually('opened', () => plain(page.locator('#answer')), /./);
    assert.match(page.url(), /[?&]gpus=\d+/);
    assert.match(name, /\d/);
});

pageTest('the measured runs like this one come after the answer: how far off the estimate was, and each of them', async () => {
    const { page, responses } = await load(own);
    const fetched = () => responses.some((response) => /\/near-[^/]*\.js$/.test(response.url()));
    const near = page.locator('#answer .near');
    await settled(page);
    assert.ok(!fetched()); // not for a page that nobody reads
    await page.locator('#answer details.more > summary').first().click();
    await near.waitFor();
    await eventually('the line', () => plain(near.locator('p').first()), words.nearRuns);
    assert.ok(fetched());
    await near.locator('summary').click();
    const rows = near.locator('tbody tr');
    await rows.first().waitFor();
    for (const row of await rows.all()) assert.match(await row.locator('th a').getAttribute('href'), /^https:/);
    assert.deepEqual(await violations(page, '#answer .near'), []);
    for (const width of [1280, 390, 320]) {
        await page.setViewportSize({ width, height: 900 });
        await fitsScreen(page, `the runs at ${width} px`);
    }
    const before = await plain(near.locator('p').first());
    await page.goto(page.url().replace('gpus=64', 'gpus=8'));
    await settled(page);
    await page.locator('#answer details.more > summary').first().click();
    await eventually('another job', () => plain(near.locator('p').first()), (now) => now !== before && words.nearRuns.test(now));
});

pageTest('a measured run goes into the form of the repository, and what the link takes along is told first', async () => {
    const page = await open(`${own}&tp=2&pp=2&cp=1&mb=1`);
    // As a build knows it that was told of a repository.
    await page.locator('meta[name=repository]').evaluate((meta) => {
        meta.content = 'https://git.example/group/project';
    });
    await page.locator('nav a[href="#evidence"]').click();
    const send = page.locator('#evidence details', { has: page.locator('.send') });
    await send.locator('summary').click();
    await send.locator('#send-seconds').fill('9.3');
    const link = send.locator('.acts a');
    const params = async () => new URL(await link.getAttribute('href')).searchParams;
    await eventually('the time', async () => (await params()).get('time'), /^measured_seconds=9\.3, estimated_seconds=/);
    const told = await send.locator('dd').allTextContents();
    for (const [id, value] of await params()) if (id !== 'template') assert.ok(told.includes(value), `${id} is told`);
    assert.match(await plain(send), words.nothingSent);
    assert.deepEqual(await violations(page, '#evidence .send'), []);
    for (const width of [1280, 320]) {
        await page.setViewportSize({ width, height: 900 });
        await fitsScreen(page, `the form at ${width} px`);
    }
});
