// What a link brings, and mistakes: what is gone, wrong or broken is named, and mended where it stands.
import assert from 'node:assert/strict';
import { eventually, open, pageTest } from './browser.mjs';
import {
    addressHas,
    addressLacks,
    degrees,
    field,
    focused,
    headline,
    inAddress,
    method,
    notice,
    option,
    plain,
    planLine,
    reset,
    unfold,
    verdictIs,
    waysOut,
} from './find.mjs';
import { words } from './words.mjs';

const link =
    '?v=1&model=llama-3.1-70b&gpu=h100-sxm-80gb&gpus=64&tp=8&pp=4&cp=1&mb=2&seq=4096&batch=512' +
    '&vp=2&zero=none&attn=plain&offload=0.5&rc=selective&rcm=core_attn,layernorm';
const chip = (page) => plain(page.locator('#answer .plan span.chip'));
const notices = (page) => page.locator('.notices p');

pageTest('a link restores the whole state', async () => {
    const page = await open(link);
    assert.equal(await field(page, 'gpus').inputValue(), '64');
    assert.match(await field(page, 'model').inputValue(), /Llama 3\.1 70B/);
    assert.match(await field(page, 'sequence_length').inputValue(), /^4,?096$/);
    assert.match(await field(page, 'global_batch').inputValue(), /^512$/);
    const [tensor, pipeline, context, , micro] = degrees(await planLine(page));
    assert.deepEqual([tensor, pipeline, context, micro], [8, 4, 1, 2]);
    // Touching one thing keeps the others, and what version 1 meant without saying it.
    await option(page, 'pipeline_parallel', 8).click();
    await addressHas(page, 'pp=8');
    const wanted = { ...Object.fromEntries(new URLSearchParams(link)), v: '2', pp: '8', sched: '1f1b', layout: 'equal' };
    for (const [key, value] of Object.entries(wanted)) assert.equal(inAddress(page, key), value, key);
});

pageTest('back and forward go through the choices', async () => {
    const page = await open('?v=2&model=llama-3.1-8b&gpu=h100-sxm-80gb&gpus=8&seq=8192&batch=1024');
    const start = await planLine(page);
    await page
        .locator('.knob', { has: page.locator('#knob-tensor_parallel') })
        .locator('[aria-pressed=false][aria-disabled=false]')
        .first()
        .click();
    const second = await eventually(
        'another plan',
        () => planLine(page),
        (text) => text !== start,
    );
    await page.goBack();
    await eventually('back', () => planLine(page), start);
    await page.goForward();
    await eventually('forward', () => planLine(page), second);
});

pageTest('each field that is typed into is a step back, however much is typed in it', async () => {
    const page = await open('?v=2&model=llama-3.1-8b&gpu=h100-sxm-80gb&gpus=8&seq=8192&batch=1024');
    for (const [key, text] of [['gpus', '16'], ['token_budget', '2T'], ['token_budget', '3T']]) await field(page, key).fill(text);
    await addressHas(page, 'tokens=3000000000000');
    await page.goBack();
    await addressHas(page, 'gpus=16');
    await addressLacks(page, 'tokens');
    await page.goBack();
    await eventually('as the link had it', () => field(page, 'gpus').inputValue(), '8');
});

pageTest('who comes back to a field types anew: a step of its own', async () => {
    const page = await open('?v=2&model=llama-3.1-8b&gpu=h100-sxm-80gb&gpus=8&seq=8192&batch=1024');
    for (const text of ['64', '128']) {
        await field(page, 'gpus').fill(text);
        await addressHas(page, `gpus=${text}`);
        await field(page, 'gpus').press('Tab');
    }
    for (const text of ['64', '8']) {
        await page.goBack();
        await addressHas(page, `gpus=${text}`);
    }
});

pageTest('a link from before the second method: what is gone is named, what is wrong is marked', async () => {
    const page = await open('?v=1&model=llama-3.1-70b&gpus=64&distopt=false&attn=selective');
    await page.locator('.problems').waitFor();
    assert.match(await notice(page), /distopt/);
    await verdictIs(page, 'cannot');
    assert.equal(await field(page, 'attention').getAttribute('aria-invalid'), 'true');
    await waysOut(page).first().click();
    assert.equal((await focused(page)).id, 'field-attention');
    await field(page, 'attention').selectOption('auto');
    await verdictIs(page, 'fits');
});

pageTest('what a link has too much is named and left out', async () => {
    const page = await open('?v=1&model=llama-3.1-8b&gpus=8&colour=red&__proto__=1&constructor=2&tp=2');
    await verdictIs(page, 'fits');
    assert.match(await notice(page), /colour/);
    const misnamed = await open('?model=llama-3.1-8b&gpus=8&framework=nemo&seq_len=4k&colour=red');
    assert.match(await notice(misnamed), /framework \([^)]*\bfw\b[^)]*\), seq_len \([^)]*\bseq\b[^)]*\), colour\./);
    await notices(page).getByRole('button').click();
    await eventually('dismissed', () => notices(page).count(), 0);
});

pageTest('a link of a newer version says so', async () => {
    const page = await open('?v=3&model=llama-3.1-8b&gpus=8&tp=2');
    await verdictIs(page, 'fits');
    assert.match(await notice(page), words.newerLink);
});

pageTest('a link of version 1 shows the plan that it showed; one without a plan says that more is chosen now', async () => {
    const page = await open('?v=1&model=llama-3.1-70b&gpus=64&tp=8&pp=4&cp=1&mb=1');
    assert.equal(await chip(page), words.yours);
    assert.deepEqual(degrees(await planLine(page)).slice(0, 5), [8, 4, 1, 2, 1]);
    assert.equal(await page.locator('#answer .plan small').count(), 0, 'and nothing besides');
    assert.equal(await notices(page).count(), 0);
    await unfold(page, '#field-schedule');
    assert.equal(await field(page, 'schedule').inputValue(), '1f1b');
    await reset(page, 'virtual_stages').click();
    await addressHas(page, 'v=2');
    assert.deepEqual(
        ['vp', 'sched', 'zero'].map((key) => inAddress(page, key)),
        [null, '1f1b', 'optimizer'],
    );
    const wider = await open('?v=1&model=llama-3.1-70b&gpus=64');
    assert.match(await notice(wider), words.widened);
    assert.equal(await chip(wider), words.chosen);
});

for (const query of [
    '?v=1&tp=banana',
    '?gpus=-8',
    '?gpus=1e9999',
    '?model=nobody',
    '?gpu=',
    '?seq=99999999999999999999',
    '?cluster=moon',
    '?attn=%00',
    '?gpus=%F0%9F%A6%99',
    '?model=custom',
    '?model=custom&model.hidden_size=abc',
    '?gpu=custom&gpu.name=Mine&gpu.base=abacus&gpu.mem=-1',
    '?gpu=custom',
    '?grad32=maybe',
    '?attn=selective',
    '?offload=half',
    '?tokens=many',
    '?price=-1',
    '?rcm=everything',
    '?gpus=7&tp=2',
    '?layout=nonsense',
    '?vp=many',
    '?vgroup=-1',
    '?rc=banana',
    '?sp=perhaps',
    '?left_out=everything',
    `?model=${'x'.repeat(5000)}`,
]) {
    pageTest(`a broken link tells which field is wrong: ${query.slice(0, 60)}`, async () => {
        const page = await open(query);
        await page.locator('.problems').waitFor();
        await page.locator('[aria-invalid=true]').first().waitFor({ state: 'attached' }); // the field is marked; some fields come later
        await verdictIs(page, 'cannot');
        assert.match(await plain(headline(page)), /\. ./, 'and why');
    });
}

pageTest('an unknown method is mended at its own control', async () => {
    const page = await open('?method=x&tp=2');
    await waysOut(page).first().click();
    assert.equal((await focused(page)).id, 'field-method');
    await method(page, 'fujii2024').check();
    await verdictIs(page, 'fits');
});

pageTest('an impossible number keeps the last answer, names the field, and is mended by one click', async () => {
    const page = await open();
    await field(page, 'gpus').fill('7');
    await field(page, 'tensor_parallel').fill('3');
    await page.locator('.problems').waitFor();
    await verdictIs(page, 'cannot');
    await page.locator('.card-bar .part.weights').waitFor(); // the bar of the last good answer
    assert.ok(await page.locator('.stale-mark').isVisible());
    const problems = () => page.locator('.problems').allInnerTexts().then(String);
    for (let i = 0; i < 4 && (await page.locator('.problems').count()) > 0; ++i) {
        const before = await problems();
        await page.locator('.problems button.prime').first().click();
        await eventually('applied', problems, (now) => now !== before);
    }
    await verdictIs(page, 'fits', 'at_risk', 'does_not_fit');
});

pageTest('text where a number belongs', async () => {
    const page = await open();
    const sequence = field(page, 'sequence_length');
    await sequence.fill('many');
    await page.locator('.problems').waitFor();
    assert.equal(await sequence.getAttribute('aria-invalid'), 'true');
    const why = await page.locator(`#${(await sequence.getAttribute('aria-describedby')).split(' ')[0]}`).innerText();
    assert.ok(why.length > 10);
    await sequence.fill('8192');
    await verdictIs(page, 'fits');
});

pageTest('a half-typed number is not called a mistake at once', async () => {
    const page = await open();
    // The page's own clock: from the key to the words, however slow the machine is.
    const pause = page.evaluate(
        () =>
            new Promise((told) => {
                let typed;
                addEventListener(
                    'input',
                    () => {
                        typed ??= performance.now();
                    },
                    true,
                );
                new MutationObserver(() => document.querySelector('.problems') && told(performance.now() - typed)).observe(document.body, {
                    childList: true,
                    subtree: true,
                });
            }),
    );
    await field(page, 'gpus').fill('');
    assert.ok((await pause) > 300);
    await field(page, 'gpus').fill('16');
    await addressHas(page, 'gpus=16');
    await eventually('mended', () => page.locator('.problems').count(), 0);
});
