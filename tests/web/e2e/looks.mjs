// How the page looks: two widths, two colours. axe finds nothing, and nothing is wider than the screen.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { axeFile } from '../chromium.mjs';
import { eventually } from './browser.mjs';

const axe = readFileSync(axeFile, 'utf8');
const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];
const WIDE = 1280,
    TABLET = 768,
    PHONE = 390,
    SMALL_PHONE = 320;

// What axe finds in a part of the page, or in all of it. `colours`: the rules that depend on them alone.
export async function violations(page, part = 'html', { colours = false } = {}) {
    if (await page.evaluate(() => globalThis.axe === undefined)) await page.evaluate(axe);
    const found = await page.evaluate(
        ([part, only]) => globalThis.axe.run(part, { resultTypes: ['violations'], ...only }),
        [part, colours ? { runOnly: COLOUR_RULES } : {}],
    );
    return found.violations.map(
        ({ id, help, nodes }) =>
            `${id}: ${help} (${nodes
                .slice(0, 3)
                .map((node) => node.html.slice(0, 100))
                .join(' | ')})`,
    );
}

const tooWide = (page) =>
    page.evaluate(() => {
        const { scrollWidth, clientWidth } = document.documentElement;
        return scrollWidth > clientWidth ? `${scrollWidth} in ${clientWidth}` : '';
    });
export const fitsScreen = (page, what = 'too wide') => eventually(what, () => tooWide(page), '');

// One page in every width, also the smallest phone's.
export async function fitsScreens(page, what) {
    for (const width of [SMALL_PHONE, PHONE, TABLET, WIDE]) {
        await page.setViewportSize({ width, height: 900 });
        await fitsScreen(page, `${what}, ${width} px`);
    }
}

// One page in every look, each a step of the test; `prepare` unfolds what a change of the width has folded. Nothing but the colours differs
// between light and dark: the other rules look at one of them.
export async function everyLook(t, page, what, { part = 'html', widths = [WIDE, PHONE], prepare = async () => {} } = {}) {
    for (const width of widths) {
        for (const colorScheme of ['light', 'dark']) {
            await t.test(`${what}: ${width} px, ${colorScheme}`, async () => {
                await page.setViewportSize({ width, height: 900 });
                await page.emulateMedia({ colorScheme });
                await fitsScreen(page);
                await prepare();
                assert.deepEqual(await violations(page, part, { colours: colorScheme === 'dark' }), []);
                await fitsScreen(page);
            });
        }
    }
}
