// What if I change this? Degrees and what they would do, single changes, the method, every other setting, the layers of each stage.
import assert from 'node:assert/strict';
import { eventually, follow, open, pageTest, reload } from './browser.mjs';
import {
    addressHas,
    addressLacks,
    amount,
    changes,
    escape,
    field,
    headlineIs,
    inAddress,
    inOrder,
    later,
    method,
    option,
    part,
    plain,
    planLine,
    stages,
    takes,
    unfold,
    verdictIs,
    waysOut,
    wholeAmount,
} from './find.mjs';
import { answerOf, asked, catalog, gib, three, used } from './numbers.mjs';
import { tell } from './said.mjs';
import { words } from './words.mjs';

const told = (text) => (text ?? '').replace(/\s/g, ' ');

pageTest('setting tensor parallel moves the estimate and tells so before', async () => {
    const page = await open('?v=1&model=llama-3.1-8b&gpu=h100-sxm-80gb&gpus=64&tp=2&pp=1&cp=1&mb=1');
    const before = await wholeAmount(page);
    const button = option(page, 'tensor_parallel', 4);
    const promised = /([−+])([\d.]+) GB/.exec(told(await button.getAttribute('aria-label')));
    assert.ok(promised, 'the button says what it would change');
    await button.click();
    await addressHas(page, 'tp=4');
    const change =
        (await eventually(
            'amount',
            () => wholeAmount(page),
            (now) => now !== before,
        )) - before;
    assert.equal(Math.sign(change), promised[1] === '+' ? 1 : -1);
    assert.ok(Math.abs(Math.abs(change) - Number(promised[2])) < 0.06, `promised ${promised[0]}, came ${change}`);
});

pageTest('a change is applied by one click, says before what it brings, and is taken back by the back button', async () => {
    const page = await open('?v=1&model=llama-3.1-70b&gpu=h100-sxm-80gb&gpus=16&tp=8&pp=2&cp=1&mb=1');
    await verdictIs(page, 'does_not_fit');
    const before = await wholeAmount(page);
    const button = changes(page).filter({ hasText: words.offload });
    const [, promised] = words.changeThatFits.exec(await plain(button));
    await button.click();
    await addressHas(page, 'offload=1');
    await verdictIs(page, 'fits');
    assert.ok(Math.abs(before - (await wholeAmount(page)) - Number(promised)) < 0.06);
    assert.match(await plain(page.locator('.items:not(.time-items)')), words.hostMemory);
    await page.goBack();
    await verdictIs(page, 'does_not_fit');
});

pageTest('a run that fits keeps its savings folded', async () => {
    const page = await open();
    const { label, set } = (await asked('alternatives')).changes.find((one) => !('gpus' in one.set) && Object.keys(one.set).length === 1);
    const saving = changes(page).filter({ hasText: new RegExp(`^\\s*${escape(tell(label))}\\s+−`) });
    assert.equal(await saving.isVisible(), false);
    await unfold(page, '> ul .word');
    await saving.click();
    const { link } = (await catalog()).fields.find(({ key }) => key in set);
    await addressHas(page, `${link}=${Object.values(set)[0]}`);
});

pageTest('the method is a choice near the plan, and the other one’s answer stands beside it', async () => {
    const page = await open();
    const { comparison, total_bytes } = answerOf('default');
    const beside = await method(page, 'fujii2024').evaluate((radio) => radio.closest('label').innerText);
    assert.ok(beside.includes(`${three(comparison.total_bytes / 2 ** 30)}\u00a0GB`), beside);
    await method(page, 'fujii2024').check();
    await addressHas(page, 'method=fujii2024');
    const other = used(await asked('estimate', { method: 'fujii2024' }));
    await headlineIs(page, (text) => text.includes(other));
    assert.equal(await part(page, 'outside').count(), 0);
    assert.equal(await page.locator('#answer .meters').count(), 0, 'it knows nothing of what PyTorch does not hand out');
    await method(page, 'detailed').check();
    await headlineIs(page, (text) => text.includes(used(answerOf('default'))));
    assert.equal(await part(page, 'outside').getAttribute('tabindex'), '0', 'a part drawn later is reached by Tab too');
    await later(page, words.methods).click();
    const sums = page.locator('.methods tbody.total td');
    await eventually(
        'the comparison',
        () => sums.allInnerTexts(),
        (texts) => texts.slice(0, 3).join() === [gib(total_bytes), gib(comparison.total_bytes), words.fits].join(),
    );
});

pageTest('parts to recompute are ticked, and the link carries them', async () => {
    const page = await open('?v=1&rc=selective&rcm=core_attn,layernorm');
    const boxes = page.locator('fieldset', { has: field(page, 'recompute_modules') }).getByRole('checkbox');
    const OF_DENSE = ['core_attn', 'layernorm', 'mlp']; // no experts to recompute
    const box = (id) => boxes.nth(OF_DENSE.indexOf(id));
    const ticked = () => Promise.all(OF_DENSE.map((id) => box(id).isChecked()));
    await unfold(page, '#field-recompute_modules');
    assert.deepEqual(await ticked(), [true, true, false]);
    assert.equal(await boxes.count(), OF_DENSE.length);
    await box('mlp').check();
    await addressHas(page, 'rcm=core_attn,layernorm,mlp');
    await box('layernorm').uncheck();
    await addressHas(page, 'rcm=core_attn,mlp');
    await reload(page);
    await unfold(page, '#field-recompute_modules');
    assert.deepEqual(await ticked(), [true, false, true]);
});

pageTest('a fraction may be typed', async () => {
    const page = await open('?v=1&offload=0.25');
    await unfold(page, '#field-optimizer_offload');
    const offload = field(page, 'optimizer_offload');
    assert.equal(await offload.inputValue(), '0.25');
    await offload.fill('0.5');
    await addressHas(page, 'offload=0.5');
    await page.keyboard.press('ArrowUp');
    await addressHas(page, 'offload=0.6');
});

pageTest('a detail of the framework is set in its group, and back to what the framework does', async () => {
    const page = await open('?v=2&gpus=8&tp=8&cp=1&pp=1&mb=1&seq=32768&batch=64');
    const before = await amount(page);
    await unfold(page, '#field-attention_mask');
    await field(page, 'attention_mask').selectOption('on'); // 32,768 * 32,768 bytes: 1 GiB
    await addressHas(page, 'mask=on');
    await eventually(
        'the amount',
        () => amount(page),
        (now) => Math.abs(now - before - 1) < 0.11,
    );
    assert.equal(await field(page, 'grouped_gemm').count(), 0); // no experts
    await field(page, 'attention_mask').selectOption('auto');
    await addressLacks(page, 'mask');
    await eventually('the amount', () => amount(page), before);
});

pageTest('activations wait on the host, or a sequence passes in slices: both save memory, and the host says what it holds', async () => {
    const page = await open('?v=2&model=llama-3.1-70b&gpu=h100-sxm-80gb&gpus=32&tp=8&cp=1&pp=4&mb=1&vp=1&seq=8192&batch=4&recompute=none&layout=equal');
    const before = await amount(page);
    await unfold(page, '#field-activation_offload');
    await field(page, 'activation_offload').fill('1');
    await addressHas(page, 'actoff=1');
    const less = (now) => now < before - 1;
    await eventually('the amount', () => amount(page), less);
    await page.locator('.host').first().waitFor();
    await field(page, 'activation_offload').fill('0');
    await eventually('the amount', () => amount(page), before);
    await unfold(page, '#field-token_slices');
    await field(page, 'token_slices').fill('4');
    await addressHas(page, 'slices=4');
    await eventually('the amount', () => amount(page), less);
});

pageTest('sequences packed with short documents take less time and as much memory', async () => {
    const page = await open('?v=2&gpus=8&tp=8&cp=1&pp=1&mb=1&seq=32768&batch=64');
    const time = () => takes(page);
    const before = [await amount(page), await time()];
    await unfold(page, '#field-document_length');
    await field(page, 'document_length').fill('640');
    await addressHas(page, 'doc=640');
    await eventually('the time', time, (now) => now !== before[1]);
    assert.equal(await amount(page), before[0]);
    await field(page, 'document_length').fill('0');
    await addressLacks(page, 'doc=');
    await eventually('the time', time, before[1]);
});

pageTest('settings that cannot matter are not there, those that are set stay', async () => {
    const page = await open('?v=2&pp=1');
    assert.equal(await field(page, 'schedule').count(), 0);
    assert.equal(await field(page, 'virtual_stages').count(), 0);
    await follow(page, '?v=1&vp=2&gpus=8&pp=1');
    await unfold(page, '#field-virtual_stages');
    assert.equal(await field(page, 'virtual_stages').inputValue(), '2');
});

pageTest('the knobs and the savings say what a step would take', async () => {
    const page = await open();
    const {
        time: { step_seconds: now },
        equally_good: { width },
    } = answerOf('default');
    const { knobs, changes: offered } = await asked('alternatives');
    // The number behind the sign is the page's own.
    const sign = (seconds) => (Math.abs(seconds - now) <= width * now ? words.equallyFast : seconds > now ? '+' : '−');
    const four = knobs.find((one) => one.field === 'tensor_parallel').options.find((one) => one.value === 4);
    await eventually(
        'the knob',
        () => plain(option(page, 'tensor_parallel', 4)),
        (text) => text.split(/ GB /).at(-1).startsWith(sign(four.step_seconds)),
    );
    await unfold(page, '> ul .word');
    const { label, saved_bytes, step_seconds } = offered.find(({ set }) => !('gpus' in set));
    const button = await plain(changes(page).filter({ hasText: tell(label) }).first());
    inOrder(button, tell(label), `−${three(saved_bytes / 2 ** 30)} GB, ${sign(step_seconds)}`);
});

pageTest('layers are shown, moved one by one, written as a text, and chosen again', async () => {
    const page = await open('?v=1&model=llama-3.1-70b&gpu=h100-sxm-80gb&gpus=64&pp=4&tp=8&cp=1&mb=1');
    const shown = page.locator('details.layers');
    const layers = async () => (await shown.locator('td b').allInnerTexts()).map(Number);
    const less = (stage) =>
        shown
            .locator('tbody tr')
            .nth(stage - 1)
            .getByRole('button')
            .first();
    const layout = field(page, 'layout');
    await unfold(page, '#field-layout');
    assert.equal(await layout.inputValue(), 'equal');
    await shown.locator('> summary').click();
    assert.deepEqual(await layers(), [20, 20, 20, 20]);
    await less(1).click();
    await less(4).click();
    await eventually('moved', layers, (now) => now.join() === '19,21,21,19');
    const text = page.locator('input.notation');
    assert.equal(await text.inputValue(), 'Et*19|(t*21|)*2t*19L');
    await eventually('address', () => inAddress(page, 'layout'), 'Et*19|(t*21|)*2t*19L');
    await eventually('the plan', () => planLine(page), / 19 \| 2 × 21 \| 19/);
    await eventually('the stages', () => plain(stages(page)), / 19 .* 21 .* 21 .* 19 /);
    await text.fill('Et*19|t*21|t*21|t*18L');
    await verdictIs(page, 'cannot');
    assert.equal(await text.getAttribute('aria-invalid'), 'true');
    await waysOut(page).first().click();
    await verdictIs(page, 'fits', 'at_risk', 'does_not_fit');
    await layout.selectOption('equal');
    await eventually('even', layers, (now) => now.join() === '20,20,20,20');
    await layout.selectOption('auto');
    await addressLacks(page, 'layout');
});

pageTest('adapters beside frozen weights need less memory, and the link keeps them', async () => {
    const page = await open('?v=1&model=llama-3.1-8b&gpu=h100-sxm-80gb&gpus=8&tp=1&pp=1&cp=1&mb=1');
    const before = await amount(page);
    await unfold(page, '#field-trained');
    assert.equal(await field(page, 'lora_rank').count(), 0);
    await field(page, 'trained').selectOption('lora');
    await addressHas(page, 'train=lora');
    const now = await eventually(
        'amount',
        () => amount(page),
        (bytes) => bytes !== before,
    );
    assert.ok(now < 0.7 * before, `${before} before, ${now} now`);
    await field(page, 'frozen_weights').selectOption('nf4');
    await addressHas(page, 'frozen=nf4');
    await reload(page);
    assert.equal(await field(page, 'trained').inputValue(), 'lora');
    assert.equal(await field(page, 'frozen_weights').inputValue(), 'nf4');
    assert.ok((await amount(page)) < now);
});

pageTest('no choice among the settings is cut', async () => {
    for (const width of [1280, 390]) {
        const page = await open('?model=llama-3.1-70b&gpu=h100-sxm-80gb&gpus=64#adjust', { width });
        await page.locator('.field select').first().waitFor({ state: 'attached' });
        const cut = () =>
            page.evaluate(() => {
                for (const one of document.querySelectorAll('details')) one.open = true;
                const pen = document.createElement('canvas').getContext('2d');
                return [...document.querySelectorAll('.field select')]
                    .filter((one) => {
                        pen.font = getComputedStyle(one).font;
                        return pen.measureText(one.selectedOptions[0].text).width > one.clientWidth - 12;
                    })
                    .map(({ id }) => id)
                    .join();
            });
        await eventually(`cut at ${width} px`, cut, '');
    }
});
