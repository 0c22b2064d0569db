// What WCAG 2.2 AA asks and axe cannot see: size of targets, room for wider text, the way of the focus, and that nothing lies over it.
import assert from 'node:assert/strict';
import { eventually, load, open, openRooms, pageTest, settled } from './browser.mjs';
import { focused, openAll, part } from './find.mjs';
import { fitsScreen } from './looks.mjs';

const LINK = '?v=2&model=llama-3.1-70b&gpu=h100-sxm-80gb&gpus=64';
const PAGES = [
    ['plain', 1280],
    ['plain', 390],
    ['plain', 320],
    ['detail', 1280],
    ['detail', 390],
];

// 2.5.8: controls smaller than 24 px within 12 px of whose middle another one lies. Not asked of links in a sentence, of what a label makes
// larger, and of parts of a drawing, which have another control of full size.
const tooSmall = () => {
    const all = [...document.querySelectorAll('a[href], button, input, select, textarea, summary')]
        .map((element) => ({ element, box: element.getBoundingClientRect() }))
        .filter(({ element, box }) => box.width > 0 && box.right > 0 && !element.closest('svg, label'));
    const inSentence = (element) => element.matches('a') && getComputedStyle(element).display === 'inline';
    const near = ({ left, right, top, bottom }, [x, y]) => Math.hypot(Math.max(left - x, 0, x - right), Math.max(top - y, 0, y - bottom)) < 12;
    const crowded = ({ element, box }) =>
        all.some((other) => other.element !== element && near(other.box, [(box.left + box.right) / 2, (box.top + box.bottom) / 2]));
    return all
        .filter((one) => Math.min(one.box.width, one.box.height) < 23.9 && !inSentence(one.element) && crowded(one))
        .map(({ element }) => element.outerHTML.slice(0, 120));
};

// What a reader may set for texts (1.4.12); a policy against styles in the page does not hold for sheets made by a script.
const spaceOut = (wide) => {
    const sheet = new CSSStyleSheet();
    if (wide) sheet.replaceSync('* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important } p { margin-bottom: 2em !important }');
    document.adoptedStyleSheets = [sheet];
};
const cutOff = () =>
    [...document.querySelectorAll('body *:not(svg, svg *, .sr)')]
        .filter((one) => one.clientWidth > 1 && (one.matches('input') || getComputedStyle(one).overflowX === 'hidden'))
        .filter((one) => one.scrollWidth > one.clientWidth + 2)
        .map((one) => one.outerHTML.slice(0, 120));
// What sticks out of the screen, unless a box around it scrolls.
const beside = () =>
    [...document.querySelectorAll('body *:not(svg *, .sr)')]
        .filter((one) => one.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
        .filter((one) => { for (let box = one.parentElement; box; box = box.parentElement) if (getComputedStyle(box).overflowX !== 'visible') return false; return true; })
        .map((one) => `${one.closest('section')?.id} ${one.outerHTML.slice(0, 80)}`)
        .slice(0, 5)
        .join('\n');
const across = () => document.documentElement.scrollWidth - innerWidth;

// 1.4.11: the edge of a part that has the focus, against the colour of the part, which its text has behind its letters.
const edgeContrast = (part) => {
    const light = (colour) => {
        const [r, g, b] = colour.match(/[\d.]+/g).map((one) => { const share = one / 255; return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4; });
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const [most, least] = ['.edge', 'text'].map((one) => light(getComputedStyle(part.querySelector(one)).stroke)).sort((a, b) => b - a);
    return (most + 0.05) / (least + 0.05);
};

pageTest('the focus is seen on every part of the bar, in light and dark', async () => {
    const page = await open(LINK, { depth: 'plain', width: 1280 });
    for (const colorScheme of ['light', 'dark']) {
        await page.emulateMedia({ colorScheme });
        await page.locator('#field-token_budget').focus();
        for (let tabs = 0; tabs < 6; ++tabs) {
            await page.keyboard.press('Tab');
            const now = page.locator('#answer .part:focus-visible');
            const contrast = await now.evaluate(edgeContrast);
            assert.ok(contrast >= 3, `${colorScheme}, ${await now.getAttribute('class')}: ${contrast.toFixed(2)}`);
        }
    }
});

pageTest('a part of the bar narrower than a finger is reached from the card of any other', async () => {
    const page = await open(LINK, { depth: 'plain', width: 390 });
    await part(page, 'activations').click();
    const narrow = page.locator('.bar-card > .acts button').nth(3);
    const { width, height } = await narrow.boundingBox();
    assert.ok(Math.min(width, height) >= 24, `${width} x ${height}`);
    const name = (await narrow.innerText()).trim();
    await narrow.click();
    await eventually('its card', () => page.locator('.bar-card h2').first().innerText(), name);
});

pageTest('with wider letters, at 320 px and at 400 % zoom nothing is cut off or beside the screen', async () => {
    const page = await open(LINK, { depth: 'plain' });
    for (const [width, height] of [
        [1280, 800],
        [640, 400],
        [320, 256],
    ]) {
        await page.setViewportSize({ width, height });
        await fitsScreen(page, `${width} px`);
        await page.evaluate(spaceOut, true);
        assert.deepEqual([await page.evaluate(cutOff), (await page.evaluate(across)) <= 0], [[], true], `${width} px, wider letters`);
        await page.evaluate(spaceOut, false);
    }
});

pageTest('every detail, with wider letters at 320 px: nothing beside the screen, however much is opened', async () => {
    const page = await open(LINK, { width: 320, height: 640 });
    await page.locator('#limits li table').first().waitFor({ state: 'attached' });
    await openAll(page);
    await page.evaluate(spaceOut, true);
    await eventually('as wide as the screen', () => page.evaluate(beside), '');
});

// Where the focus is, whether it can be seen, and whether anything lies over it.
const focusNow = () => {
    const at = document.activeElement;
    const { left, right, top, bottom, width, height } = at.getBoundingClientRect();
    const over = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
    const covered = over !== null && !at.contains(over) && !over.contains(at);
    const edge = at.matches('g') ? true : getComputedStyle(at).outlineStyle !== 'none';
    const name = at.getAttribute('aria-label') ?? at.textContent.trim().slice(0, 40);
    return { body: at === document.body, top: top + scrollY, left, name, bad: [covered && 'covered', !edge && 'no outline', (bottom < 0 || top > innerHeight || width * height === 0) && 'out of sight'].filter(Boolean) };
};

for (const [depth, width] of PAGES) {
    pageTest(`${depth}, ${width} px: the focus goes down the page, is seen, and nothing lies over it; what is pressed is large, or stands apart`, async () => {
        const { page } = await load(LINK, { depth, width, height: 800 });
        await settled(page);
        const stops = [];
        for (let presses = 0; presses < 60; ++presses) {
            await page.keyboard.press('Tab');
            const now = await page.evaluate(focusNow);
            if (now.body) break;
            stops.push(now);
        }
        assert.ok(stops.length >= 25, `${stops.length} stops`);
        assert.deepEqual(stops.filter(({ bad }) => bad.length > 0), []);
        const back = stops.filter(({ top, left }, i) => i > 0 && top < stops[i - 1].top - 40 && left <= stops[i - 1].left);
        assert.deepEqual(back.map(({ name }) => name), [], 'upwards');
        await openRooms(page);
        assert.deepEqual(await page.evaluate(tooSmall), []);
    });
}

pageTest('nothing moves by itself', async () => {
    const page = await open(LINK, { depth: 'plain' });
    const moving = () => [...document.querySelectorAll('*')].filter((one) => getComputedStyle(one).animationName !== 'none' || parseFloat(getComputedStyle(one).transitionDuration) > 0).length;
    assert.equal(await page.evaluate(moving), 0);
    assert.equal(await page.evaluate(() => getComputedStyle(document.documentElement).scrollBehavior), 'auto'); // the tests ask for less motion
});

pageTest('on the first screen the card of a part leads to the assumptions; closed, it gives the focus back', async () => {
    const page = await open('?model=llama-3.1-70b&gpu=h100-sxm-80gb&gpus=64', { depth: 'plain' });
    const activations = part(page, 'activations');
    await activations.focus();
    await page.keyboard.press('Enter');
    const buttons = page.locator('.bar-card .item-card button');
    await buttons.last().press('Enter');
    await eventually('the focus', () => page.evaluate(() => [...document.activeElement.classList].slice(0, 2).join(' ')), 'part activations');
    for (const inside of [false, true]) {
        await activations.press('Enter');
        await buttons.last().waitFor();
        if (inside) await buttons.last().focus();
        await page.keyboard.press('Escape');
        await eventually('closed by Escape', () => page.locator('.bar-card').count(), 0);
        await eventually('the focus', () => page.evaluate(() => [...document.activeElement.classList].slice(0, 2).join(' ')), 'part activations');
    }
    await activations.press('Enter');
    await buttons.nth(-2).click();
    await page.locator('#assumed').waitFor();
});

pageTest('a press that makes its own button go leaves the focus at the answer', async () => {
    for (const [link, button] of [
        ['?model=llama-3.1-70b&gpu=h100-sxm-80gb&gpus=7', '.changes li button'],
        ['?model=llama-3.1-8b&gpu=h100-sxm-80gb&gpus=7&tp=3', '.remedy button.link'],
    ]) {
        const page = await open(link, { depth: 'plain' });
        await page.locator(button).first().press('Enter');
        await eventually('the focus', async () => (await focused(page)).id, 'answer');
    }
});
