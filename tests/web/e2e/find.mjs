// Where things stand on the page, by id, role and class; what has none of these is found by its words (words.mjs).
import assert from 'node:assert/strict';
import { eventually } from './browser.mjs';

export const escape = (text) => text.replace(/[()+.*?$^|[\]{}]/g, '\\$&');
export const plain = async (locator) => (await locator.innerText()).replace(/\s+/g, ' ').trim();
export const plainAll = async (locator) => (await locator.allInnerTexts()).map((text) => text.replace(/\s+/g, ' ').trim());
export const inAddress = (page, key) => new URL(page.url()).searchParams.get(key);
export const addressHas = (page, text) =>
    eventually(
        'address',
        () => page.url(),
        (url) => url.includes(text),
    );
export const addressLacks = (page, key) => eventually('address', () => inAddress(page, key), null);
export const focused = (page) =>
    page.evaluate(() => ({ id: document.activeElement.id, label: document.activeElement.getAttribute('aria-label') }));

// The answer
export const headline = (page) => page.locator('#answer h1');
export const headlineIs = (page, pattern) => eventually('headline', () => plain(headline(page)), pattern);
// fits, at_risk, does_not_fit or cannot
export const verdictIs = (page, ...kinds) =>
    eventually(
        'verdict',
        () => page.locator('#answer h1 .verdict').getAttribute('class'),
        (classes) => kinds.some((kind) => classes?.includes(kind)),
    );
export const takes = (page) => plain(page.locator('.takes'));
// Without what the best plan comes to beside it, which comes later.
export const planLine = async (page) => {
    const texts = await page.locator('#answer .plan p').evaluate((line) => [...line.childNodes].map((one) => (one.nodeName === 'BUTTON' ? '' : one.textContent)));
    return texts.join(' ').replace(/\s+/g, ' ').trim();
};
export const waysOut = (page) => page.locator('#answer .problems .remedy button, #answer .problems li button');
export const changes = (page) => page.locator('#answer .changes ul button');
export const notice = (page) => plain(page.locator('.notices'));
export const part = (page, id) => page.locator(`.card-bar:not(.time-bar) .part.${id}`);
export const timePart = (page, kind) => page.locator(`.time-bar .part.t-${kind}`);
export const card = (page, kind) => page.locator(`article.item-card.${kind}`);
export const stages = (page) => page.locator('.stages > ul').first();
// The sum of the table, in GiB with two decimals; the headline rounds.
const inTotal = async (rows) => Number((await rows.locator('td').first().innerText()).replaceAll(',', ''));
// Of what PyTorch allocates; and of all that the GPU holds, in the last row.
export const amount = (page) => inTotal(page.locator('.items:not(.time-items) tbody.total').first());
export const wholeAmount = (page) => inTotal(page.locator('.items:not(.time-items) tbody.total').last());

// Fields and knobs
export const field = (page, key) => page.locator(`#field-${key}`);
export const option = (page, key, value) =>
    page
        .locator('.knob', { has: page.locator(`#knob-${key}`) })
        .locator('.option', { has: page.locator('b', { hasText: new RegExp(`^${value}$`) }) });
export const reset = (page, key) => page.locator('.field', { has: field(page, key) }).locator('button.link');
export const method = (page, id) => page.locator(`fieldset.method input[value=${id}]`);
export const listed = (page, table) => page.locator(`${table} tbody tr`);

// Opens what is folded around an element that is there while nobody sees it.
export const folded = (page, inside) => page.locator(`details:has(${inside})`).last();
export const unfold = (page, inside) => folded(page, inside).locator('> summary').click();
// A part that comes when it is opened: nothing but its title says which.
export const later = (page, title) => page.locator('details.part-later > summary', { hasText: new RegExp(`^${escape(title)}`) });
export const openAll = (page) =>
    page.locator('details').evaluateAll((all) => {
        for (const details of all) details.open = true;
    });

export async function chooseModel(page, typed, label) {
    const model = field(page, 'model');
    await model.click();
    await model.fill(typed);
    await page.getByRole('option', { name: label }).click();
}
export async function pasteDialog(page) {
    await field(page, 'model').click();
    await page.locator('#model-list .paste').click();
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    return { dialog, text: dialog.locator('textarea'), use: dialog.locator('button[type=submit]'), wrong: dialog.locator('.wrong') };
}

// What the page would put into the clipboard.
export async function catchCopies(page) {
    await page.evaluate(() => {
        navigator.clipboard.writeText = async (text) => {
            globalThis.copied = text;
        };
    });
    return async (button) => {
        await button.click();
        return page.evaluate(() => globalThis.copied);
    };
}

// The first of some texts that does not come in its place, whatever stands between them; undefined: all do.
function missing(text, parts) {
    let from = 0;
    return parts.find((one) => {
        const at = text.indexOf(one, from);
        from = at + one.length;
        return at < 0;
    });
}
export const holds =
    (...parts) =>
    (text) =>
        missing(text, parts) === undefined;
export function inOrder(text, ...parts) {
    const gone = missing(text, parts);
    assert.equal(gone, undefined, `"${gone}" is not, or not in its place, in "${text}"`);
}

// The list of plans. Its columns: rank, tensor, pipeline, context, micro-batch, data, besides, step, tokens/s, GB, of the card.
export const rows = (page) => page.locator('.ranking tbody tr:not(.alike)'); // without those that say how many more there are
export const takePlan = (page, rank) =>
    page.locator(`.ranking tbody tr`, { has: page.locator('th button', { hasText: new RegExp(`^${rank}$`) }) }).locator('th button');
export const column = async (page, at) =>
    (await page.locator(`.ranking tbody tr:not(.alike) > :nth-child(${at})`).allInnerTexts()).map((text) => Number(text.replace(/[^\d.]/g, '')));
// Which of the rows is the plan shown above, from 1 on; 0: none.
export const rowAbove = async (page) => 1 + (await rows(page).evaluateAll((all) => all.findIndex((row) => row.classList.contains('now'))));
// The numbers of "tensor 8 · pipeline 4 · context 1 · data 2 · micro-batch 1", wherever it stands in a text.
export const degrees = (text) => [...text.match(/\d+(?: · [^·\d]*\d+)+/)[0].matchAll(/\d+/g)].map(Number);
