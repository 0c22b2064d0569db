// A model that the page's own list lacks: found below it by words of its name, and used like a pasted one.
import assert from 'node:assert/strict';
import { eventually, follow, load, open, pageTest, settled } from './browser.mjs';
import { addressHas, field, headline, headlineIs, plain, plainAll } from './find.mjs';
import { violations } from './looks.mjs';
import { say } from './said.mjs';

const options = async (page) => (await plainAll(page.locator('#model-list [role=option]'))).map((text) => text.replace(/ [\d.]+ (b|m)illion.*/, ''));
const listHas = (page, wanted) => eventually('the list', async () => (await options(page)).join(', '), wanted);

async function typed(page, text) {
    await field(page, 'model').click();
    await field(page, 'model').fill(text);
}

pageTest('typed, chosen by keyboard, in the link, and the same in a tab that starts from it', async () => {
    const { page, responses, faults } = await load('', { depth: 'plain' });
    const fetched = () => responses.some((one) => one.url().includes('fourfold_formats'));
    await page.mouse.move(2, 2);
    await settled(page);
    const before = await plain(headline(page));
    await typed(page, 'llama');
    await eventually('the list', async () => (await options(page)).length > 5, true);
    assert.equal(fetched(), false, 'a long list is enough');
    await typed(page, 'gemma 2b');
    await listHas(page, /^Gemma 2B, Gemma 2 2B, Paste/);
    assert.equal(fetched(), true);
    assert.deepEqual(await violations(page), []);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await addressHas(page, 'model._name_or_path=google%2Fgemma-2-2b');
    await headlineIs(page, (now) => now !== before);
    assert.equal(await field(page, 'model').inputValue(), 'gemma-2-2b');
    const [link, said] = [new URL(page.url()).search, await plain(headline(page))];
    await follow(page, link);
    assert.equal(await plain(headline(page)), said);
    assert.deepEqual(faults, []);
});

for (const [words, found] of [
    ['mistral nemo', 'Mistral Nemo 12B'],
    ['qwen3 0.6b', 'Qwen3 0.6B'],
    ['pythia 1.4b', 'Pythia 1.4B'],
    ['google/gemma-2-2b', 'Gemma 2 2B'],
]) {
    pageTest(`${words}, and Enter at once`, async () => {
        const page = await open('', { depth: 'plain' });
        await typed(page, words);
        await page.keyboard.press('Enter');
        await addressHas(page, 'model=custom');
        await typed(page, words);
        await listHas(page, new RegExp(`^${found}, `));
    });
}

pageTest('with LoRA among the words, Enter takes the model with it', async () => {
    const page = await open('', { depth: 'plain' });
    await typed(page, 'qwen3 8b lora');
    await page.keyboard.press('Enter');
    await addressHas(page, 'train=lora');
    await addressHas(page, 'model=qwen3-8b');
});

pageTest('what the arrow keys point at is never behind the last row, which stays in sight', async () => {
    for (const width of [1280, 390]) {
        const page = await open('?model=llama-3.1-8b&gpu=h100-sxm-80gb&gpus=8', { depth: 'plain', width });
        await field(page, 'model').click();
        for (let step = 0; step < 4; ++step) {
            const room = () =>
                page.evaluate(() => {
                    const [row, last] = ['[aria-selected=true]', '.paste'].map((one) => document.querySelector(`#model-list ${one}`).getBoundingClientRect());
                    return last.top - row.bottom;
                });
            await eventually(`room below at ${width} px`, room, (px) => px >= 0);
            await page.keyboard.press('ArrowDown');
        }
    }
});

pageTest('a repository that the core knows need not be asked for, where its id was pasted', async () => {
    const page = await open('', { depth: 'plain' });
    await typed(page, 'paste');
    await page.locator('#model-list [role=option]').last().click();
    const dialog = page.getByRole('dialog');
    await dialog.locator('textarea').fill('google/gemma-2-2b');
    await dialog.getByRole('button', { name: say('hub.use', { label: 'Gemma 2 2B' }) }).click();
    await addressHas(page, 'model._name_or_path=google%2Fgemma-2-2b');
});

pageTest('what no model is called says so, and offers the one that is spelled alike', async () => {
    const { page } = await load('', { depth: 'plain' });
    await page.mouse.move(2, 2);
    await settled(page);
    await typed(page, 'oracle of delphi');
    await page.getByText(say('form.no_match')).waitFor();
    await typed(page, 'gema 2b');
    await listHas(page, /^Gemma 2B, Paste/);
    await page.getByText(say('formats.models.near'), { exact: true }).waitFor();
});

pageTest('a link that names such a model', async () => {
    const page = await open('?model=gemma-2b&gpus=16', { depth: 'plain' });
    assert.equal(await field(page, 'model').inputValue(), 'gemma-2b');
    await addressHas(page, 'model._name_or_path=google%2Fgemma-2b');
    await addressHas(page, 'gpus=16');
    await headlineIs(page, /fits/);
    await follow(page, '?model=gemma');
    await headlineIs(page, /“gemma”/);
    assert.equal(await field(page, 'model').inputValue(), 'gemma');
});
