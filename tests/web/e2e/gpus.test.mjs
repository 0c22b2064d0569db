// How many GPUs? The best plan for each number, and the limits: fewest GPUs, longest sequence, largest model.
import assert from 'node:assert/strict';
import { eventually, open, pageTest } from './browser.mjs';
import { addressHas, field, holds, inOrder, plain, plainAll, verdictIs } from './find.mjs';
import { violations } from './looks.mjs';
import { answerOf, asked, grouped } from './numbers.mjs';
import { words } from './words.mjs';

const job = '?v=1&model=llama-3.1-70b&gpu=h100-sxm-80gb&gpus=64';
const answers = (page) => plain(page.locator('#limits > ul'));

pageTest('how many GPUs: relative to those on which a GPU does the most; a click takes a number', async () => {
    const page = await open(`${job}&tokens=1e12&price=2`);
    const lines = await plainAll(page.locator('#gpus table tr'));
    assert.match(lines[0], words.sweepHeads);
    assert.match(lines[1], /^16 \D+$/);
    assert.match(lines[2], /^32 .* \d+ % [\d.]+ \w+ [\d,]+ [\d,]+$/);
    const shares = lines.slice(2).map((line) => Number(/ (\d+) % /.exec(line)[1]));
    assert.equal(Math.max(...shares), 100);
    await page.locator('#gpus table th button', { hasText: /^128$/ }).click();
    await addressHas(page, 'gpus=128');
    await verdictIs(page, 'fits');
});

pageTest('how far it goes: the fewest GPUs, in so many days, and a click takes the answer', async () => {
    const page = await open(`${job}&tokens=1000000000000`);
    const wanted = answerOf('limits-70b'); // of the same job
    const fewest = page.locator('#limits > ul > li').first().getByRole('button');
    const inTime = page.locator('#limits .in-time');
    const gpus = (count) => words.gpus(grouped(count));
    await eventually(
        'answers',
        () => answers(page),
        holds(gpus(wanted.fewest_gpus.gpus), gpus(wanted.fewest_in_time.gpus), words.tokens(grouped(wanted.largest_sequence.value))),
    );
    assert.equal(await fewest.innerText(), gpus(wanted.fewest_gpus.gpus));
    const taken = () =>
        inTime
            .getByRole('button')
            .first()
            .innerText({ timeout: 1000 })
            .catch(() => '');
    await eventually('in time', taken, gpus(wanted.fewest_in_time.gpus));
    const days = page.locator('#limits-days');
    await days.fill('300');
    await eventually('more days', taken, (text) => text !== '' && text !== gpus(wanted.fewest_in_time.gpus));
    await days.fill('soon');
    await page.locator('#limits-days-problem').waitFor();
    assert.equal(await days.getAttribute('aria-invalid'), 'true');
    await days.fill('30');
    await fewest.click();
    await addressHas(page, `gpus=${wanted.fewest_gpus.gpus}`);
    await verdictIs(page, 'fits');
    assert.equal(await field(page, 'gpus').inputValue(), String(wanted.fewest_gpus.gpus));
});

pageTest('how far it goes: without tokens no number of GPUs is named; the models stand in a table', async () => {
    const page = await open('?tokens=0');
    const inTime = page.locator('#limits .in-time');
    await inTime.waitFor();
    assert.equal(await inTime.getByRole('button').count(), 0);
    await page.locator('#limits-tokens').fill('1e12');
    await addressHas(page, 'tokens=1000000000000');
    await inTime.getByRole('button').first().waitFor();
    const models = page.locator('#limits details');
    inOrder(await models.locator('summary').innerText(), String((await asked('limits', { days: 30 })).models.length));
    await models.locator('summary').click();
    await models
        .getByRole('row', { name: /Mistral 7B v0\.1/ })
        .getByRole('button')
        .click();
    await addressHas(page, 'model=mistral-7b');
    assert.deepEqual(await violations(page, '#limits'), []);
});
