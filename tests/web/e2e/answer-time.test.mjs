// How long does it take? The sentence of the time, the budget, the bar of a step and its formulas.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dist, eventually, open, pageTest, reload } from './browser.mjs';
import {
    addressHas,
    addressLacks,
    card,
    catchCopies,
    field,
    holds,
    inOrder,
    later,
    option,
    plain,
    takes,
    timePart,
    verdictIs,
} from './find.mjs';
import { answerOf, daysOf, minutes, three } from './numbers.mjs';
import { say, tell } from './said.mjs';
import { words } from './words.mjs';

const { time } = answerOf('default');
const margin = Math.round(Math.max(time.high_seconds - time.step_seconds, time.step_seconds - time.low_seconds));
const tiles = (page) => plain(page.locator('.tiles'));

pageTest('it stands below the verdict, with its band, in the built file too', async () => {
    const page = await open();
    const sentence = await takes(page);
    inOrder(sentence, minutes(time.step_seconds), `${three(time.tokens_per_s)} tokens/s`, `${margin} s.`);
    const html = readFileSync(`${dist}index.html`, 'utf8')
        .replace(/<[^>]*>/g, ' ')
        .replace(/\s+/g, ' ');
    const { run } = time;
    const days = three(run.days);
    assert.ok(html.includes(` ${days} `), days);
    inOrder(await tiles(page), ` ${days} `, ` ${three(run.low_days)} `, ` ${three(run.high_days)} days.`, '$');
});

pageTest('what cannot work takes no time, and what does not fit only would', async () => {
    const page = await open('?v=1&gpus=7&tp=3');
    await verdictIs(page, 'cannot');
    assert.equal(await page.locator('#answer .takes').count(), 0);
    const large = await open('?v=1&model=llama-3.1-70b&gpu=h100-sxm-80gb&gpus=8');
    await verdictIs(large, 'does_not_fit');
    assert.match(await takes(large), words.wouldTake);
    const experts = await open('?v=1&model=mixtral-8x7b&gpus=64');
    assert.match(await takes(experts), words.takesBetween);
});

pageTest('a budget tells the days, the cost and the energy, and the link carries it', async () => {
    const [days, low, high] = [time.step_seconds, time.low_seconds, time.high_seconds].map((seconds) => daysOf(time, seconds, 1e12));
    const page = await open();
    await field(page, 'token_budget').fill('1,000,000,000,000');
    await addressHas(page, 'tokens=1000000000000');
    await eventually('the run', () => tiles(page), holds(` ${days} `, ` ${low} `, ` ${high} days.`));
    await field(page, 'price_per_gpu_hour').fill('2.5');
    await field(page, 'watts_per_gpu').fill('1,200');
    await addressHas(page, 'price=2.5&watts=1200');
    await eventually('cost', () => tiles(page), words.costAndEnergy);
    await reload(page);
    assert.match(await tiles(page), words.costAndEnergy);
    inOrder(await tiles(page), ` ${days} `, ` ${low} `, ` ${high} days.`);
    await field(page, 'token_budget').fill('');
    await addressLacks(page, 'tokens');
    await eventually('the usual amount', () => tiles(page), holds(` ${three(time.run.days)} `));
    await field(page, 'token_budget').fill('0');
    await eventually(
        'no run',
        () => page.locator('.tiles > div').count(),
        1,
    );
});

pageTest('a wrong budget is marked where it was typed, and mended there', async () => {
    const page = await open();
    const tokens = field(page, 'token_budget');
    await tokens.pressSequentially('lots');
    await verdictIs(page, 'cannot');
    assert.equal(await tokens.getAttribute('aria-invalid'), 'true');
    assert.ok(await tokens.evaluate((input) => input === document.activeElement), 'the field keeps the focus');
    await tokens.fill('2e12');
    await eventually('the run', () => tiles(page), holds(` ${daysOf(time, time.step_seconds, 2e12)} `));
});

pageTest('every part of the bar opens its items, with formula and numbers', async () => {
    const page = await open();
    const computing = time.items.reduce((sum, { kind, share }) => sum + (kind === 'compute' ? share : 0), 0);
    // The largest part that is no computing.
    const traffic = ['tensor', 'context', 'pipeline', 'data', 'bubble'];
    const { id, kind, seconds } = time.items.filter((item) => traffic.includes(item.kind)).sort((a, b) => b.seconds - a.seconds)[0];
    inOrder(await plain(page.locator('#time-title')), `${Math.round(computing * 100)} %`);
    await timePart(page, kind).focus();
    await page.keyboard.press('Enter');
    const shown = card(page, `t-${kind}`);
    await shown.waitFor();
    assert.equal(await shown.getAttribute('aria-label'), say(`time.${id}`));
    await shown.locator('.formula dd').first().waitFor(); // the words of symbols come with the first formula
    const [symbols, numbers, result] = await shown.locator('.formula dd').allInnerTexts();
    assert.ok(symbols.length > 0 && numbers.length > 0);
    assert.ok(result.startsWith(seconds >= 1 ? three(seconds) : ''), result);
    const text = await plain(page.locator('.time-items'));
    for (const { id } of time.items) assert.ok(text.includes(say(`time.${id}`)), id);
    for (const sentence of [tell(time.basis), say(`rate.${time.rates[0].id}.help`)]) assert.ok(text.includes(sentence), sentence);
    const attention = time.items.find(({ id }) => id === 'attention');
    await page.locator('.time-items button.row', { hasText: new RegExp(`^${say(`time.${attention.id}`)}`) }).click();
    await page.getByRole('article', { name: say(`time.${attention.id}`) }).waitFor();
});

pageTest('an item of the time goes down to single multiplications: symbols, definitions, source, and text to take along', async () => {
    const item = time.items.find(({ id }) => id === 'multiplications');
    const meaningOf = (letter) => {
        const { meaning, part } = item.where.find(({ symbol }) => symbol === letter);
        return part ? say(`symbol.${meaning}.of`, { part: say(`part.${part}`) }) : say(`symbol.${meaning}`);
    };
    const page = await open();
    await timePart(page, 'compute').click();
    const shown = card(page, 't-compute');
    await shown.locator('.formula dd').first().waitFor();
    inOrder(await plain(shown), say('time.multiplications.summary'), item.source.title, say(`place.${item.source.where}`));
    assert.equal(await shown.locator('dd a').getAttribute('href'), item.source.url);
    assert.equal(await shown.locator('.where tr').count(), item.where.length);
    const direct = new Set(item.formula.flatMap(({ symbol }) => symbol ?? []));
    assert.equal(await shown.locator('.where tr:visible').count(), direct.size, 'the rest is folded');
    const further = shown.locator('details.further > summary');
    inOrder(await further.innerText(), String(item.where.length - direct.size));
    await further.click();
    assert.equal(await shown.locator('.where tr:visible').count(), item.where.length);
    const meaning = meaningOf('F_q');
    const row = shown.locator('.where tr', { has: page.locator('th', { hasText: /^F_q$/ }) });
    inOrder(await plain(row), meaning, ' = max(', ')/H) ', ' s');
    await shown.locator('.formula .symbol', { hasText: 'G_f' }).focus();
    inOrder(
        await plain(shown.locator('.pointed')),
        'G_f = F_q + F_o + F_u + F_d = ',
        ` s (${meaningOf('G_f')})`,
    );
    assert.equal(await shown.locator('.where .symbol[tabindex="-1"]').count(), await shown.locator('.where .symbol').count());
    const copied = await catchCopies(page);
    const [text, latex] = [0, 1].map((i) => shown.locator('.acts button').nth(i));
    inOrder(await copied(text), `${say('time.multiplications')}: ${say('time.multiplications.summary')}`);
    inOrder(await copied(latex), `${item.latex} = ${item.latex_numbers} = ${item.seconds}`);
});

pageTest('MFU is said with its peak and its convention, which is the reader’s choice and no part of the link', async () => {
    const [full, causal] = time.rates;
    const page = await open();
    const told = () => plain(later(page, words.timeTable));
    const said =
        ({ mfu, tflop_per_s_per_gpu, id }) =>
        (text) =>
            text.endsWith(say(`rate.${id}`)) &&
            holds(`${Math.round(mfu * 100)} % `, `${three(time.peak_tflop_per_s)} TFLOP/s`, `${three(tflop_per_s_per_gpu)} TFLOP/s`)(text);
    await eventually('counted whole', told, said(full));
    await later(page, words.timeTable).click();
    await page.locator('.time-items').getByRole('button', { name: say(`rate.${causal.id}`) }).click();
    await eventually('counted half', told, said(causal));
    inOrder(await plain(page.locator('.time-items')), say(`rate.${causal.id}.help`));
    assert.equal(new URL(page.url()).search, '');
    await option(page, 'tensor_parallel', 4).click();
    await addressHas(page, 'tp=4');
    await eventually('another plan', told, (text) => text.endsWith(say(`rate.${causal.id}`)));
});
