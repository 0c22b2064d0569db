// Ten questions of somebody who comes for the first time: each has its answer on the screen after at most three actions on the landing page
// (typing a value is one), wide and narrow. The names of the tests are the list of what is done.
import assert from 'node:assert/strict';
import { eventually, open, pageTest } from './browser.mjs';
import { slowLinks } from './few-nodes.mjs';
import { catchCopies, field, headline, plain, verdictIs } from './find.mjs';
import { result, section } from './placement.mjs';
import { say } from './said.mjs';

const SIZES = [
    [1280, 800],
    [390, 844],
];
const MOST = 3;

// ---- what people do: each returns what it is called and how it is done
const model = (typed) => [
    `type "${typed}" as the model`,
    async (page) => {
        await field(page, 'model').click();
        await field(page, 'model').fill(typed);
        await field(page, 'model').press('Enter');
    },
];
const NAMES = { gpus: 'the number of GPUs', sequence_length: 'the sequence', token_budget: 'the tokens' };
const type = (key, typed) => [`type "${typed}" as ${NAMES[key]}`, (page) => field(page, key).fill(typed)];
const write = (name, find, typed) => [`paste ${name}`, (page) => find(page).fill(typed)];
const tap = (name, find) => [`tap "${name}"`, (page) => find(page).click()];
const button = (id) => tap(say(id), (page) => page.locator('#answer').getByRole('button', { name: say(id), exact: true }));
const question = (id, section) => tap(say(id), (page) => page.locator(`.next a[href="#${section}"]`));

// ---- where the answer stands: as a whole on the screen, and nothing lies over it
const isOnScreen = (locator) =>
    locator.evaluate((element) => {
        const { left, right, top, bottom } = element.getBoundingClientRect();
        const over = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
        return top >= 0 && bottom <= innerHeight && left >= 0 && right <= innerWidth && (element.contains(over) || over?.contains(element));
    });
async function onScreen(...locators) {
    for (const locator of locators) {
        await locator.waitFor();
        await eventually(`${locator} on the screen`, () => isOnScreen(locator), true);
    }
}

const config = JSON.stringify({
    model_type: 'llama',
    hidden_size: 2048,
    intermediate_size: 5632,
    num_hidden_layers: 22,
    num_attention_heads: 32,
    num_key_value_heads: 4,
    vocab_size: 32000,
    max_position_embeddings: 2048,
});
const runs = 'gpus,tp,pp,cp,mb,step_seconds\n8,1,4,1,1,130\n8,2,1,1,1,142\n8,4,1,1,1,150\n8,1,2,1,1,135\n16,2,2,1,1,70\n';
const tile = (page, at) => page.locator('.tiles > div').nth(at).locator('b').first();
const row = (page, label) => page.locator('#cards tbody tr', { has: page.getByRole('link', { name: label, exact: true }) });

const QUESTIONS = [
    {
        asks: 'does 70B at 8k fit 16 H100',
        does: [model('llama 3.1 70b'), type('gpus', '16'), type('sequence_length', '8k')],
        async stands(page) {
            await eventually('the title', () => page.title(), /Llama 3.1 70B on 16\s×\sH100/);
            await verdictIs(page, 'fits', 'at_risk', 'does_not_fit');
            await onScreen(headline(page));
        },
    },
    {
        asks: 'how many H100 for 405B',
        does: [model('405b')],
        async stands(page) {
            const first = page.locator('#answer .changes li').first();
            const enough = page.locator('.next a[href="#limits"] b').first();
            await eventually('the model', () => page.title(), /405B/);
            const count = async (locator) => (await plain(locator)).match(/[\d,]+/)?.[0] ?? 'none';
            await eventually('what to change says how many are enough', async () => (await count(first)) === (await count(enough)), true);
            await onScreen(first);
        },
    },
    {
        asks: 'how long and how much for 15 T tokens on 512',
        does: [type('gpus', '512'), type('token_budget', '15T')],
        async stands(page) {
            await eventually('days', () => plain(tile(page, 0)), /\d+ days/);
            assert.match(await plain(tile(page, 1)), /^\$/);
            await onScreen(tile(page, 0), tile(page, 1));
        },
    },
    {
        asks: 'it does not fit, what do I change',
        does: [model('llama 3.1 70b')],
        async stands(page) {
            await verdictIs(page, 'does_not_fit');
            const changes = page.locator('#answer .changes');
            await eventually('a change that fits', () => plain(changes.locator('li').first()), /fits/);
            await onScreen(headline(page), changes.locator('h2'), changes.locator('li').first());
        },
    },
    {
        asks: 'which TP/PP/CP',
        does: [type('gpus', '64'), button('answer.why')],
        async stands(page) {
            const terms = page.locator('#answer .why .terms');
            await eventually('the degrees', () => plain(terms), /tensor \d+ · pipeline \d+ · context \d+/);
            await onScreen(terms);
        },
    },
    {
        asks: 'my own config.json',
        does: [write('it as the model', (page) => field(page, 'model'), config), tap(say('paste.use'), (page) => page.getByRole('dialog').locator('button[type=submit][aria-disabled=false]'))],
        async stands(page) {
            await eventually('its name', () => field(page, 'model').inputValue(), /llama|Your model/i);
            await verdictIs(page, 'fits');
            await onScreen(headline(page));
        },
    },
    {
        asks: 'send it to my manager',
        does: [button('answer.share'), [`tap "${say('share.copy_text')}"`, async () => {}]],
        async stands(page) {
            const copy = await catchCopies(page);
            const copyText = page.getByRole('dialog').getByRole('button', { name: say('share.copy_text'), exact: true });
            const sent = await copy(copyText);
            assert.match(sent.replace(/\s+/g, ' '), /Llama 3.1 8B .* 8 × H100 .*http/);
            await onScreen(page.getByRole('dialog').getByRole('button').first());
        },
    },
    {
        asks: 'A100 or H100',
        does: [question('next.cards', 'cards')],
        async stands(page) {
            const both = ['A100 SXM 80 GB', 'H100 SXM 80 GB'].map((label) => row(page, label));
            for (const one of both) await eventually('days and money', () => one.innerText(), /days[^$]*\$/);
            await onScreen(...both);
        },
    },
    {
        asks: 'my runs are slower than this says',
        does: [question('next.own', 'calibrate'), write('five runs', (page) => page.locator('#calibrate textarea'), runs), tap(say('calibrate.apply'), (page) => page.locator('.calibrate button.prime'))],
        async stands(page) {
            await eventually('it is calibrated', () => page.url(), /[?&]factor=1\./);
            await eventually('how long it takes now', () => plain(page.locator('#check > .brief')), /2 min .* a step/);
            await onScreen(page.locator('#check > .brief'), page.locator('#calibrate-result > p').first());
        },
    },
    {
        asks: 'my links are uneven',
        does: [
            question('next.links', 'placement'),
            write('what was measured', (page) => section(page).locator('.drop textarea'), slowLinks),
            tap(say('placement.search.start'), (page) => section(page).locator('.step > .acts > button.prime')),
        ],
        async stands(page) {
            await eventually('an order', () => result(page), /\d/);
            await onScreen(section(page).locator('.result-of-placement > .finding').first());
        },
    },
];

for (const { asks, does, stands } of QUESTIONS) {
    assert.ok(does.length <= MOST, asks);
    for (const [width, height] of SIZES) {
        pageTest(`${asks}, ${width} px: ${does.map(([name]) => name).join('; ')}`, async () => {
            const page = await open('', { depth: 'plain', width, height });
            for (const [, act] of does) await act(page);
            await stands(page);
        });
    }
}
