// The built page in Chromium, served with the strict Content-Security-Policy below a path as GitHub Pages does.
//   .ci/build && node --test tests/web/e2e.test.mjs            (one test alone: --test-name-pattern=link)
// Every test ends with a look at what went wrong meanwhile: console, policy, requests (chromium.mjs). Names of controls are the page's
// own words, as a reader or a screen reader meets them; a change of wording changes `names` and nothing else.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { contentSecurityPolicy, serveFolder } from '../../.ci/static-server.mjs';
import { axeFile, openPage, startChromium } from './chromium.mjs';
import { differences, goldenCases } from './golden.mjs';
import { loadModule, root } from './module.mjs';

// Bytes, gzip -9: of everything that the default page fetches to show its finished example, and of what follows by itself.
const FIRST_LOAD_LIMIT = 60 * 1024, MODULE_LIMIT = 350 * 1024;

const names = {
    model: 'Model', gpus: 'Number of GPUs', gpu: 'GPU', sequence: 'Sequence length in tokens', batch: 'Sequences per batch',
    detailed: /^Fourfold, every stage/, fujii: /^Fujii et al\. 2024/, stages: /^Pipeline stages/, curve: /^Passes of the step/, timeline: /^Passes of every stage/,
    tensor: 'Tensor parallel (TP)', pipeline: 'Pipeline parallel (PP)', grid: /^Memory of the fullest GPU for every plan/,
    calibrate: 'Calibrate with your own runs', ownRuns: 'Your runs', addPlan: 'Add the plan shown', apply: 'Apply', remove: 'Remove calibration',
    useLinks: 'Use a measurement of your links', links: 'Paste or drop a measurement', example: 'Fill in an example', linksMap: /^Links, one by one/,
    linksUnit: 'Unit of the numbers', findPlacement: 'Find a placement', joint: /^Also place the best/,
    searchTime: 'Time to search', someDiffer: 'Some nodes are slower', differs: /^Node that differs, row/, speed: /^Speed in %, row/, memory: /^Memory per GPU in GB, row/,
    paste: /Paste a config\.json/, configText: 'Contents of config.json', useModel: 'Use this model', cancel: 'Cancel', dismiss: 'Dismiss',
};

// Long enough for a machine that does much else; nobody waits for it where all is well.
const WAIT_MS = 30_000;

const dist = fileURLToPath(new URL('web/dist/', root));
const llama = JSON.parse(readFileSync(new URL('core/data/models/llama-3.1-8b.json', root), 'utf8')).config;

let served, chromium, core, opened = [];
before(async () => {
    core = await loadModule();
    served = await serveFolder(dist, 0, { base: '/fourfold/' });
    chromium = await startChromium();
    // A page that never answers fails here, once, instead of costing every test its full waiting time.
    await (await open()).close();
});
after(async () => {
    await chromium?.stop();
    served?.server.closeAllConnections();
    served?.server.close();
});

// A test with pages that close at its end, when they must have been without fault.
function pageTest(name, body) {
    test(name, { timeout: 180_000 }, async () => {
        opened = [];
        try {
            await body();
            for (const { faults } of opened) assert.deepEqual(faults, []);
        } finally {
            for (const { page } of opened) await page.close();
        }
    });
}

async function open(query = '', options = {}) {
    const one = await openPage(chromium.browser, served.url + query, options);
    opened.push(one);
    await one.page.mouse.move(2, 2); // the first sign of a reader, with which the module comes
    await settled(one.page);
    return one.page;
}
// The module has answered: there is a map of plans, or the reason why there is none.
const settled = (page) => page.getByRole('grid', { name: names.grid }).or(page.locator('.problems, .plans .empty')).first().waitFor();
const headline = (page) => page.getByRole('heading', { level: 1 });
const plain = async (locator) => (await locator.innerText()).replace(/\s+/g, ' ').trim();
const field = (page, name) => page.getByRole('textbox', { name, exact: true });
const escape = (label) => label.replace(/[()]/g, '\\$&');
const knob = (page, label, value) => page.locator('[aria-pressed]').and(page.getByRole('button', { name: new RegExp(`^${escape(label)} ${value}: `) }));
const ownValue = (page, label) => page.getByRole('textbox', { name: new RegExp(`^${escape(label)}`) });
const part = (page, label) => page.getByRole('group', { name: 'Memory of the fullest GPU' }).getByRole('button', { name: new RegExp(`^${label}`) });

// Waits until a condition on the page holds; on failure says what was there instead.
async function eventually(what, read, wanted) {
    const holds = (value) => wanted instanceof RegExp ? wanted.test(value) : typeof wanted === 'function' ? wanted(value) : value === wanted;
    let value;
    for (const end = Date.now() + WAIT_MS; Date.now() < end; await new Promise((next) => setTimeout(next, 30))) {
        value = await read();
        if (holds(value)) return value;
    }
    assert.fail(`${what}: ${wanted} was expected, last seen ${JSON.stringify(value)}`);
}
const headlineIs = (page, pattern) => eventually('headline', () => plain(headline(page)), pattern);
const addressHas = (page, text) => eventually('address', () => page.url(), (url) => url.includes(text));
// The sum of the table, in GiB with two decimals; the headline rounds.
const amount = async (page) => Number((await page.getByRole('row', { name: /^(In all|Handed out)/ }).getByRole('cell').first().innerText()).replaceAll(',', ''));

const folded = (page, title) => page.locator('summary', { hasText: new RegExp(`^${title}`) });
// The numbers that the page must show are those of the golden answers; the page's own rounding is what is tested here.
const answerOf = (name) => JSON.parse(readFileSync(new URL(`tests/golden/${name}.json`, root), 'utf8')).response;
const gib = (bytes) => (bytes / 2 ** 30).toFixed(2);
// What else the page shows is asked of the module itself.
const asked = (name, job = {}) => JSON.parse(core[name](JSON.stringify({ version: 2, ...job })));
const planLine = (page) => plain(page.locator('.plan'));
const percentOf = (share) => (Math.round(share * 100) === 80 ? (share * 100).toFixed(1) : Math.round(share * 100));   // 79.9 % is not 80 %
const sentenceOf = ({ total_bytes, share }) => `${Math.round(total_bytes / 2 ** 30)} of 80 GB (${percentOf(share)} %)`;
const openAll = (page) => page.locator('details').evaluateAll((all) => { for (const details of all) details.open = true; });
const fourStages = '?v=1&model=llama-3.1-70b&gpu=h100-sxm-80gb&gpus=64&pp=4&tp=8&mb=1';

describe('the answer', () => {
    pageTest('the default page says the golden sentence', async () => {
        const page = await open();
        await headlineIs(page, (text) => text.startsWith('It fits. ') && text.includes(sentenceOf(answerOf('default'))));
        assert.match(await page.title(), /Llama 3\.1 8B.*fits.*Fourfold/);
    });

    pageTest('without JavaScript the built file carries the same sentence', async () => {
        const html = readFileSync(`${dist}index.html`, 'utf8').replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
        assert.ok(html.includes(sentenceOf(answerOf('default'))), html.slice(0, 500));
    });

    pageTest('the sentence becomes another when an input does', async () => {
        const page = await open();
        const takes = () => plain(page.locator('.takes'));
        const first = await takes();
        await field(page, names.sequence).fill('16384');
        await eventually('another time', takes, (text) => text !== first);
        await field(page, names.gpus).fill('64');
        await addressHas(page, 'gpus=64');
        await page.getByRole('combobox', { name: names.gpu, exact: true }).selectOption({ label: 'A100 SXM 40 GB' });
        await headlineIs(page, / 40 GB/);
        await addressHas(page, 'gpu=a100-sxm-40gb');
    });

    pageTest('a model is found by typing', async () => {
        const page = await open();
        const model = page.getByRole('combobox', { name: names.model, exact: true });
        await model.click();
        await model.fill('3.1 70');
        await page.getByRole('option', { name: /Llama 3\.1 70B/ }).click();
        await headlineIs(page, /does not fit/);
        await addressHas(page, 'model=llama-3.1-70b');
        await page.getByRole('button', { name: /^Use .* GPUs .*fits/ }).click();   // the way out that the page offers
        await headlineIs(page, /^It fits/);
    });

    pageTest('setting tensor parallel moves the estimate and tells so before', async () => {
        const page = await open('?v=1&model=llama-3.1-8b&gpu=h100-sxm-80gb&gpus=64&tp=2&pp=1&cp=1&mb=1');
        const before = await amount(page);
        const button = knob(page, names.tensor, 4);
        const promised = /([−+])([\d.]+) GB/.exec((await button.getAttribute('aria-label')).replace(/\s/g, ' '));
        assert.ok(promised, 'the button says what it would change');
        await button.click();
        await addressHas(page, 'tp=4');
        const change = (await eventually('amount', () => amount(page), (now) => now !== before)) - before;
        assert.equal(Math.sign(change), promised[1] === '+' ? 1 : -1);
        assert.ok(Math.abs(Math.abs(change) - Number(promised[2])) < 0.06, `promised ${promised[0]}, came ${change}`);
    });

    pageTest('a part of the bar opens its formula with symbols, numbers and source', async () => {
        const page = await open();
        for (const label of ['Weights', 'Gradients', 'Optimizer', 'Activations', 'Outside the allocator']) {
            await part(page, label).click();
            const card = page.getByRole('article', { name: new RegExp(label) });
            await card.waitFor();
            const text = await plain(card);
            assert.match(text, /bytes = [\d.,]+ GiB/);
            assert.ok(await card.getByRole('button', { name: /, \w/ }).count() > 0, 'symbols that explain themselves');
            assert.match(await card.getByRole('link').first().getAttribute('href'), /^https:\/\//);
            assert.match(text, /Source [^,]+, \S/, 'the source, and where in it');
        }
    });

    pageTest('the numbers of a formula are those of the answer', async () => {
        const page = await open();
        await part(page, 'Weights').click();
        const text = await plain(page.getByRole('article', { name: /Weights/ }));
        const [{ bytes, numbers }] = answerOf('default').groups[0].items;   // 2·P
        assert.ok(text.includes(`${numbers[0]}·${numbers[2].toLocaleString('en')} `), text);
        assert.ok(text.includes(`${bytes.toLocaleString('en')} bytes = ${gib(bytes)} GiB`), text);
    });
});

describe('what to change', () => {
    pageTest('a change is applied by one click, says before what it brings, and is taken back by the back button', async () => {
        const page = await open('?v=1&model=llama-3.1-70b&gpu=h100-sxm-80gb&gpus=16&tp=8&pp=2&cp=1&mb=1');
        await headlineIs(page, /^It does not fit/);
        const before = await amount(page);
        const button = page.getByRole('button', { name: /^Optimizer in host memory/ });
        const [, promised] = /−([\d.]+)\s?GB, (?:[−+][\d.]+\s?\S+ a step|equally fast) fits/.exec(await plain(button));
        await button.click();
        await addressHas(page, 'offload=1');
        await headlineIs(page, /^It fits/);
        assert.ok(Math.abs(before - await amount(page) - Number(promised)) < 0.06);
        assert.match(await plain(page.locator('.items')), /host memory: [\d.,]+ GB on every node .*PCIe/);
        await page.goBack();
        await headlineIs(page, /^It does not fit/);
    });

    pageTest('a run that fits keeps its savings folded', async () => {
        const page = await open();
        const { label, set } = asked('alternatives').changes.find((one) => !('gpus' in one.set) && Object.keys(one.set).length === 1);
        const saving = page.getByRole('button', { name: new RegExp(`^${escape(label)} −`) });
        assert.equal(await saving.isVisible(), false);
        await folded(page, 'Save memory').click();
        await saving.click();
        const { link } = JSON.parse(core.catalog()).fields.find(({ key }) => key in set);
        await addressHas(page, `${link}=${Object.values(set)[0]}`);
    });

    pageTest('the method is a choice near the plan, and the other one\'s answer stands beside it', async () => {
        const page = await open();
        const { comparison } = answerOf('default');
        const other = page.getByRole('radio', { name: names.fujii });
        assert.ok((await other.evaluate((radio) => radio.closest('label').innerText)).includes(`${three(comparison.total_bytes / 2 ** 30)}\u00a0GB`));
        await other.check();
        await addressHas(page, 'method=fujii2024');
        await headlineIs(page, (text) => text.includes(sentenceOf(asked('estimate', { method: 'fujii2024' }))));
        assert.equal(await part(page, 'Outside').count(), 0);
        assert.equal(await page.getByText('handed out by PyTorch').count(), 0);
        await page.getByRole('radio', { name: names.detailed }).check();
        await headlineIs(page, (text) => text.includes(sentenceOf(answerOf('default'))));
        assert.equal(await part(page, 'Outside').getAttribute('tabindex'), '0', 'a part drawn later is reached by Tab too');
        await page.getByText('Two methods').click();
        await eventually('the comparison', () => plain(page.locator('.methods')), 
            (text) => text.includes(`In all ${gib(answerOf('default').total_bytes)} ${gib(comparison.total_bytes)} Verdict fits `));
    });

    pageTest('parts to recompute are ticked, and the link carries them', async () => {
        const page = await open('?v=1&rc=selective&rcm=core_attn,layernorm');
        const box = (name) => page.getByRole('group', { name: 'Recompute which parts' }).getByRole('checkbox', { name });
        await folded(page, 'Recomputation').click();
        assert.deepEqual([await box(/^Core/).isChecked(), await box(/^Norms/).isChecked(), await box(/^Feed/).isChecked()], [true, true, false]);
        assert.equal(await box(/^Expert/).count(), 0, 'a dense model has no experts to recompute');
        await box(/^Feed/).check();
        await addressHas(page, 'rcm=core_attn,layernorm,mlp');
        await box(/^Norms/).uncheck();
        await addressHas(page, 'rcm=core_attn,mlp');
        await page.reload();
        await settled(page);
        await folded(page, 'Recomputation').click();
        assert.deepEqual([await box(/^Core/).isChecked(), await box(/^Norms/).isChecked(), await box(/^Feed/).isChecked()], [true, false, true]);
    });

    pageTest('a fraction may be typed', async () => {
        const page = await open('?v=1&offload=0.25');
        await folded(page, 'Sharding').click();
        const offload = field(page, 'Optimizer in host memory');
        assert.equal(await offload.inputValue(), '0.25');
        await offload.fill('0.5');
        await addressHas(page, 'offload=0.5');
        await page.keyboard.press('ArrowUp');
        await addressHas(page, 'offload=0.6');
    });

    pageTest('settings that cannot matter are not there, those that are set stay', async () => {
        const page = await open('?v=2&pp=1');
        assert.equal(await folded(page, 'Pipeline').count(), 0);
        await page.goto(`${served.url}?v=1&vp=2&gpus=8&pp=1`);
        await settled(page);
        await folded(page, 'Pipeline').click();
        assert.equal(await field(page, 'Chunks per GPU (virtual pipeline)').inputValue(), '2');
    });
});

// What the page writes for a time, from the golden numbers: 108.5 s is "1 min 49 s".
const minutes = (seconds) => `${Math.floor(Math.round(seconds) / 60)} min ${Math.round(seconds) % 60} s`;
const daysOf = ({ tokens_per_step }, seconds, tokens) => three(Math.ceil(tokens / tokens_per_step) * seconds / 86400);
const three = (value) => value.toLocaleString('en', { maximumSignificantDigits: 3 });

describe('the time of a step', () => {
    pageTest('stands below the verdict, with its band, in the built file too', async () => {
        const { time } = answerOf('default');
        const sentence = `One step takes ${minutes(time.step_seconds)} (${three(time.tokens_per_s)} tokens/s), give or take ${Math.round(time.high_seconds - time.step_seconds)} s.`;
        const html = readFileSync(`${dist}index.html`, 'utf8').replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
        assert.ok(html.includes(sentence), sentence);
        const page = await open();
        assert.equal(await plain(page.locator('.takes')), sentence);
    });

    pageTest('what cannot work takes no time, and what does not fit only would', async () => {
        const page = await open('?v=1&gpus=7&tp=3');
        await headlineIs(page, /^Cannot work/);
        assert.equal(await page.locator('.takes').count(), 0);
        const large = await open('?v=1&model=llama-3.1-70b&gpu=h100-sxm-80gb&gpus=8');
        await headlineIs(large, /^It does not fit/);
        assert.match(await plain(large.locator('.takes')), /^One step would take /);
        const experts = await open('?v=1&model=mixtral-8x7b&gpus=64');
        assert.match(await plain(experts.locator('.takes')), /^One step takes [^,]* \([\d,]+ tokens\/s\), or anything from .+ to .+\.$/);
    });

    pageTest('a budget tells the days, the cost and the energy, and the link carries it', async () => {
        const { time } = answerOf('default');
        const [days, low, high] = [time.step_seconds, time.low_seconds, time.high_seconds].map((seconds) => daysOf(time, seconds, 1e12));
        const page = await open();
        await folded(page, 'How long, how much').click();
        await field(page, 'Tokens to train on').fill('1,000,000,000,000');
        await addressHas(page, 'tokens=1000000000000');
        await eventually('the run', () => plain(page.locator('.takes')), (text) => text.endsWith(` s. 1 trillion tokens: ${days} days, between ${low} and ${high}.`));
        assert.match(await plain(page.locator('.budget')), /= 1 trillion .* GPU-hours in [\d,]+ steps/);
        await field(page, 'Price per GPU and hour').fill('2.5');
        await field(page, 'Power per GPU').fill('1,200');
        await addressHas(page, 'price=2.5&watts=1200');
        await eventually('cost', () => plain(page.locator('.takes')), /Cost: [\d,]+\. Energy: [\d.]+ MWh\.$/);
        await page.reload();
        await settled(page);
        assert.match(await plain(page.locator('.takes')), / days, .*Cost: .*Energy: /);
        assert.match(await plain(folded(page, 'How long')), /1 trillion tokens/);
        await folded(page, 'How long, how much').click();
        await field(page, 'Tokens to train on').fill('');
        await eventually('no run', () => plain(page.locator('.takes')), /give or take \d+ s\.$/);
        await eventually('address', () => new URL(page.url()).searchParams.has('tokens'), false);
    });

    pageTest('a wrong budget is marked where it was typed, and mended there', async () => {
        const page = await open();
        await folded(page, 'How long, how much').click();
        const tokens = field(page, 'Tokens to train on');
        await tokens.pressSequentially('lots');
        await headlineIs(page, /^Not clear yet/);
        assert.equal(await tokens.getAttribute('aria-invalid'), 'true');
        assert.ok(await tokens.evaluate((input) => input === document.activeElement), 'the field keeps the focus');
        await tokens.fill('2e12');
        await eventually('the run', () => plain(page.locator('.takes')), /2 trillion tokens: \d+ days/);
    });

    pageTest('every part of the bar opens its items, with formula and numbers', async () => {
        const { time } = answerOf('default');
        const page = await open();
        const bar = page.getByRole('group', { name: 'Time of a step' });
        const computing = time.items.reduce((sum, { kind, share }) => sum + (kind === 'compute' ? share : 0), 0);
        // The largest part that is no computing.
        const short = { tensor: 'Tensor traffic', context: 'Context traffic', pipeline: 'Pipeline traffic', data: 'Data traffic', bubble: 'Waiting' };
        const { kind, label: first, seconds } = time.items.filter((item) => item.kind in short).sort((a, b) => b.seconds - a.seconds)[0];
        assert.match(await plain(page.locator('#time-title')), new RegExp(`^Computing takes ${Math.round(computing * 100)} % of a step$`));
        await bar.getByRole('button', { name: new RegExp(`^${short[kind]}`) }).focus();
        await page.keyboard.press('Enter');
        const card = page.getByRole('article', { name: first });
        await card.waitFor();
        assert.match(await plain(card), new RegExp(`In symbols .* With your numbers .* Result ${seconds >= 1 ? `${three(seconds)}` : ''}`));
        const text = await plain(page.locator('.time-items'));
        for (const { label } of time.items) assert.ok(text.includes(label), label);
        for (const sentence of [time.basis, time.rates[0].help]) assert.ok(text.includes(sentence), sentence);
        await page.getByRole('button', { name: /^Attention/ }).click();
        await page.getByRole('article', { name: 'Attention' }).waitFor();
    });

    pageTest('an item of the time goes down to single multiplications: symbols, definitions, source, and text to take along', async () => {
        const item = answerOf('default').time.items.find(({ id }) => id === 'multiplications');
        const page = await open();
        await page.getByRole('group', { name: 'Time of a step' }).getByRole('button', { name: /^Computing/ }).click();
        const card = page.getByRole('article', { name: item.label });
        await card.waitFor();
        const shown = await plain(card);
        assert.ok(shown.includes(item.summary) && shown.includes(`Source ${item.source.title}, ${item.source.where}`), shown);
        assert.equal(await card.locator('dd a').getAttribute('href'), item.source.url);
        assert.equal(await card.locator('.where tr').count(), item.where.length);
        const direct = new Set(item.formula.flatMap(({ symbol }) => symbol ?? []));
        assert.equal(await card.locator('.where tr:visible').count(), direct.size, 'the rest is folded');
        await card.getByText(`What these are made of: ${item.where.length - direct.size} more symbols`).click();
        assert.equal(await card.locator('.where tr:visible').count(), item.where.length);
        const row = card.locator('.where tr', { has: page.locator('th', { hasText: /^F_q$/ }) });
        assert.match(await plain(row), /forward multiplication: queries, keys and values = max\(.*\)\/H\) .* s$/);
        await card.locator('.formula .symbol', { hasText: 'G_f' }).focus();
        assert.match(await plain(card.locator('.pointed')), /^G_f = F_q \+ F_o \+ F_u \+ F_d = .* s \(matrix multiplications of a layer, forward\)$/);
        assert.equal(await card.locator('.where .symbol[tabindex="-1"]').count(), await card.locator('.where .symbol').count());
        await page.evaluate(() => { navigator.clipboard.writeText = async (text) => { window.copied = text; }; });
        for (const [button, expected] of [['Copy as text', `${item.label}: ${item.summary}`], ['Copy as LaTeX', `${item.latex} = ${item.latex_numbers} = ${item.seconds}`]]) {
            await card.getByRole('button', { name: button }).click();
            const copied = await page.evaluate(() => window.copied);
            assert.ok(copied.startsWith(expected), copied);
        }
    });

    pageTest('MFU is said with its peak and its convention, which is the reader\'s choice and no part of the link', async () => {
        const { time: { rates: [full, causal] } } = answerOf('default');
        const page = await open();
        const small = () => plain(folded(page, 'Where the time goes'));
        const said = ({ mfu, tflop_per_s_per_gpu, label }) => (text) =>
            text.includes(`${Math.round(mfu * 100)} % of the GPU’s peak of 989 TFLOP/s dense bf16 (MFU), ${three(tflop_per_s_per_gpu)} TFLOP/s`) && text.endsWith(label);
        await eventually('counted whole', small, said(full));
        await folded(page, 'Where the time goes').click();
        await page.getByRole('button', { name: causal.label }).click();
        await eventually('counted half', small, said(causal));
        assert.ok((await plain(page.locator('.time-items'))).includes(causal.help));
        assert.equal(new URL(page.url()).search, '');
        await knob(page, names.tensor, 4).click();
        await addressHas(page, 'tp=4');
        await eventually('another plan', small, (text) => text.endsWith(causal.label));
    });

    pageTest('the knobs and the savings say what a step would take', async () => {
        const page = await open();
        const { time: { step_seconds: now }, equally_good: { width } } = answerOf('default');
        const { knobs, changes } = asked('alternatives');
        const told = (seconds) => (Math.abs(seconds - now) <= width * now ? 'equally fast' : seconds > now ? '+' : '−');   // the number is the page's own
        const { options } = knobs.find((one) => one.field === 'tensor_parallel');
        const four = options.find((one) => one.value === 4);
        await eventually('the knob', () => plain(knob(page, names.tensor, 4)), (text) => text.split(/ GB /).at(-1).startsWith(told(four.step_seconds)));
        await folded(page, 'Save memory').click();
        const { label, saved_bytes, step_seconds } = changes.find(({ set }) => !('gpus' in set));
        const button = await plain(page.getByRole('button', { name: new RegExp(`^${escape(label)}`) }).first());
        assert.ok(button.includes(`−${three(saved_bytes / 2 ** 30)} GB, ${told(step_seconds)}`), button);
    });
});

describe('the best plans', () => {
    const job = '?v=2&model=llama-3.1-70b&gpu=h100-sxm-80gb&gpus=64';
    const asJob = { model: 'llama-3.1-70b', gpus: 64 };
    pageTest('stand in a table, in the order of the core; the first is the plan above; a click takes one', async () => {
        const page = await open(job);
        const { equally_good: ties, tie_width: width } = asked('rank', asJob);
        const table = page.getByRole('table', { name: 'Plans that fit' });
        const row = (i) => table.getByRole('row').nth(i);
        const cells = async (i) => (await row(i).getByRole('cell').allInnerTexts()).map((text) => text.replace(/\s/g, ' '));
        await eventually('the ranking', () => plain(row(1)), (text) => text.startsWith('1 above '));
        const [tensor, pipeline, context, micro, data] = await cells(1);
        assert.ok((await plain(page.locator('#answer'))).includes(`tensor ${tensor} · pipeline ${pipeline} · context ${context} · data ${data} · micro-batch ${micro}`));
        const finding = await eventually('the next plan', () => plain(page.locator('.best .finding')), /^The best that fits: .* The next, .*, takes [\d.]+ m?s \([\d.]+ %\) longer.* than the first\.$|Both need the same memory\.$/);
        assert.equal(finding.includes(`${ties} plans are equally fast within what the estimate can tell`), ties > 1);
        assert.equal(await table.locator('.tie-end').count(), ties > 1 && ties < 20 ? 1 : 0);
        if (ties > 1) assert.ok((await plain(page.locator('.best'))).includes(`The first ${ties} plans are equally fast within what the estimate can tell (${100 * width} % of a step)`));
        await page.getByRole('button', { name: 'Why this plan?' }).click();
        const why = await plain(page.locator('#why'));
        assert.match(why, /^One search looks at every plan, and this one is the first of it\./);
        if (ties > 1) assert.ok(why.includes(`${ties} plans are equally fast within what the estimate can tell`), why);
        const second = await page.getByRole('button', { name: /^Take plan 2: / }).getAttribute('aria-label');
        await page.getByRole('button', { name: /^Take plan 2: / }).click();
        await addressHas(page, `tp=${/tensor (\d+)/.exec(second)[1]}`);
        await eventually('the plan above', () => plain(row(2)), (text) => text.startsWith('2 above '));
        assert.match(await plain(page.locator('.plan')), /^your plan /);
        // By memory: the column never falls.
        await table.getByRole('button', { name: 'GB' }).click();
        const sizes = (await table.locator('tbody tr td:nth-child(10)').allInnerTexts()).map(Number);
        assert.deepEqual(sizes, [...sizes].sort((a, b) => a - b));
        assert.match(await table.locator('[aria-sort=ascending]').innerText(), /^GB\s*▴$/);
        // Back to what the search chooses.
        await page.getByRole('button', { name: /^Suggested: / }).click();
        await eventually('the first again', () => plain(page.locator('.plan')), /^chosen for you /);
        assert.equal(new URL(page.url()).searchParams.has('tp'), false);
    });

    pageTest('what is set bounds the answer, the list stays whole; one click filters it by that', async () => {
        const page = await open(`${job}&tp=2`);
        const rows = page.locator('.ranking tbody tr');
        await rows.first().waitFor();
        await page.getByText(/^List and map look at all plans, also at those that differ from what you have set\./).waitFor();
        await page.getByRole('button', { name: 'Filter by what you have set' }).click();
        await eventually('tensor 2', async () => [...new Set(await page.locator('.ranking tbody tr > :nth-child(2)').allInnerTexts())].join(), '2');
        await eventually('the first is the plan above', () => plain(rows.first()), (text) => text.startsWith('1 above '));
    });

    pageTest('every column sorts, both ways, by mouse and by keyboard', async () => {
        const page = await open(job);
        const table = page.getByRole('table', { name: 'Plans that fit' });
        const column = async (name) => {
            const heads = await table.locator('thead th').allInnerTexts();
            const at = heads.findIndex((head) => head.replace(/[▴▾]/g, '').trim() === name);
            const texts = await table.locator(`tbody tr > :nth-child(${at + 1})`).allInnerTexts();
            return texts.map((text) => Number(text.replace(/[^\d.]/g, '')));
        };
        const sortedBy = () => plain(table.locator('[aria-sort$=ending]'));
        await table.locator('tbody tr').nth(19).waitFor();
        await page.getByText(/^Of [\d,]+ plans that fit, these 2\d\d are the fastest and the smallest in memory; sorting orders them/).waitFor();
        const names = ['tensor', 'pipeline', 'context', 'micro-batch', 'data', 'Tokens/s', 'GB', 'of the card', 'Step', '#'];
        const buttons = table.locator('thead button');
        assert.equal(await buttons.count(), names.length);
        for (const name of names) {
            const button = buttons.filter({ hasText: new RegExp(`^\\W?${name === '#' ? '#' : name}`) });
            for (const down of [false, true]) {
                await button.click();
                assert.equal((await sortedBy()).replace(/\s/g, ''), `${name}${down ? '▾' : '▴'}`.replace(/\s/g, ''));
                assert.equal(await table.locator('[aria-sort$=ending]').getAttribute('aria-sort'), down ? 'descending' : 'ascending');
                const values = await column(name);
                assert.deepEqual(values, [...values].sort((a, b) => (down ? b - a : a - b)), `${name}, ${down}`);
            }
        }
        // from the last head back to the memory, and there and back again
        await table.getByRole('button', { name: 'GB' }).focus();
        await page.keyboard.press('Enter');
        assert.match(await sortedBy(), /^GB ?▴$/);
        await page.keyboard.press('Space');
        assert.match(await sortedBy(), /^GB ?▾$/);
        await page.keyboard.press('Tab');
        await page.keyboard.press('Tab');   // the first row's plan
        const label = await page.evaluate(() => document.activeElement.getAttribute('aria-label'));
        assert.match(label, /^Take plan \d+: /);
        await page.keyboard.press('Enter');
        await addressHas(page, `tp=${/tensor (\d+)/.exec(label)[1]}`);
        assert.match(await sortedBy(), /^GB ?▾$/);
    });

    pageTest('filters look at all plans, the degrees are those of the map, and an empty list says why', async () => {
        const page = await open(job);
        const list = page.locator('#best-filters'), map = page.locator('#plans .filters').last();
        const rows = page.locator('.ranking tbody tr'), finding = page.locator('.best .finding');
        await rows.first().waitFor();
        const address = page.url();
        await list.getByLabel('Recompute activations').selectOption({ label: 'Every layer' });
        await eventually('filtered', () => plain(finding), (text) => text.startsWith('With these filters the best that fits: '));
        for (const text of await rows.allInnerTexts()) assert.match(text, /all layers recomputed/);
        assert.match(await plain(page.locator('.best .funnel')), /^Of [\d,]+ combinations [\d,]+ keep every rule: .*[\d,]+ do not fit, [\d,]+ fit\./);
        // One state with the map, either way.
        await map.getByLabel(names.tensor).selectOption('2');
        await eventually('tensor 2', async () => [...new Set(await page.locator('.ranking tbody tr > :nth-child(2)').allInnerTexts())].join(), '2');
        assert.equal(await list.getByLabel(names.tensor).inputValue(), '2');
        await eventually('left out', () => plain(page.locator('.best .funnel')), /the filters leave out [\d,]+, [\d,]+ do not fit/);
        await list.getByLabel(names.tensor).selectOption('8');
        await eventually('tensor 8', async () => [...new Set(await page.locator('.ranking tbody tr > :nth-child(2)').allInnerTexts())].join(), '8');
        assert.equal(await map.getByLabel(names.tensor).inputValue(), '8');
        // Nothing needs so little; one filter is to blame, and the way out is named.
        const memory = list.getByRole('textbox', { name: 'Memory at most, in GB' });
        await memory.fill('much');
        await list.getByText(/is text, not a number/).waitFor();
        await memory.fill('10');
        const nothing = page.locator('.best .nothing');
        await eventually('to blame', () => plain(nothing), (text) => text.startsWith('“memory at most 10 GB” leaves nothing'));
        assert.match(await plain(finding), /^With these filters no plan fits on 64 GPUs\. The closest, .* would need [\d.]+ GB/);
        await page.emulateMedia({ media: 'print' });
        assert.match(await plain(page.locator('.best')), /Only plans with: TP 8, memory at most 10 GB, Recompute activations: Every layer\./);
        await page.emulateMedia({ media: 'screen' });
        await nothing.getByRole('button', { name: 'Clear “memory at most 10 GB”' }).click();
        await rows.first().waitFor();
        assert.equal(await page.evaluate(() => document.activeElement.id), 'best-filters');
        await memory.fill('40');
        await eventually('small plans', () => page.locator('.ranking tbody td:nth-child(10)').allInnerTexts(), (sizes) => sizes.length > 0 && sizes.every((size) => Number(size) <= 40));
        await list.getByRole('button', { name: 'Show all' }).click();
        await eventually('all', () => plain(finding), (text) => text.startsWith('The best that fits: '));
        assert.equal(await map.getByLabel(names.tensor).inputValue(), '');
        assert.equal(page.url(), address, 'filters are no part of the link');
    });

    pageTest('on a phone the filters are folded, and say how many act', async () => {
        const page = await open(job, { width: 390, height: 800 });
        const filters = page.locator('details#best-filters');
        await filters.waitFor();
        assert.equal(await filters.getByLabel('Recompute activations').isVisible(), false);
        await filters.locator('summary').click();
        await filters.getByLabel('Recompute activations').selectOption({ label: 'Nothing' });
        await eventually('active', () => plain(filters.locator('summary')), 'Filter the list 1 active');
        await page.evaluate(readFileSync(axeFile, 'utf8'));
        for (const width of [390, 1280]) {
            await page.setViewportSize({ width, height: 800 });
            await page.locator(width < 700 ? 'details#best-filters' : 'fieldset#best-filters').waitFor();
            const found = await page.evaluate(() => globalThis.axe.run('#best', { resultTypes: ['violations'] }));
            assert.deepEqual(found.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html)}`), []);
        }
        await page.setViewportSize({ width: 390, height: 800 });
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    });

    pageTest('what the search leaves out is said, can be put in, and the link keeps it; so it does the risk', async () => {
        const page = await open(job);
        const funnel = page.locator('.best .funnel'), said = page.locator('.left-out > p');
        await funnel.waitFor();
        const before = await plain(funnel);
        assert.match(await plain(said), /^Left out of the search: .*zero-bubble.*, .*16-bit/i);
        await said.getByRole('button').first().click();
        await addressHas(page, 'without=small_states');
        await eventually('without it', () => plain(said), (text) => !/zero-bubble/i.test(text));
        await folded(page, 'What is searched').click();
        const box = (name) => page.locator('.explore').getByLabel(name);
        await box(/16-bit/i).uncheck();
        await addressHas(page, 'without=');
        await eventually('everything', () => plain(said), 'Nothing is left out of the search.');
        await eventually('another search', () => plain(funnel), (text) => text !== before);
        await box(/interleav/i).check();
        await addressHas(page, 'without=interleaving');
        await page.getByLabel('Accepted risk').selectOption('0.5');
        await addressHas(page, 'risk=0.5');
        await page.reload();
        await page.mouse.move(2, 2);
        await funnel.waitFor();
        await folded(page, 'What is searched').click();
        assert.deepEqual([await box(/interleav/i).isChecked(), await box(/zero-bubble/i).isChecked()], [true, false]);
        assert.equal(await page.getByLabel('Accepted risk').inputValue(), '0.5');
        const old = await open('?v=1&model=llama-3.1-70b&gpus=64&vary=virtual_stages,schedule,recompute,zero,stage_layers');
        await eventually('what version 1 tried', () => plain(old.locator('.left-out > p')), /^Left out of the search: [^,.]*16-bit[^,.]*\./i);
    });

    pageTest('why not another plan: a slower one, one that is too large, one that cannot be', async () => {
        const page = await open(job);
        const form = page.getByRole('form', { name: 'Why not another plan?' });
        const reply = () => plain(form.getByRole('status'));
        const ask = async (numbers) => {
            for (const name of [names.tensor, names.pipeline]) await form.getByLabel(`Why not: ${name}`).fill(String(numbers[name] ?? ''));
            await form.getByRole('button', { name: 'Ask' }).click();
        };
        await ask({ [names.tensor]: 8, [names.pipeline]: 2 });
        await eventually('slower', reply, (text) => /^tensor 8 · pipeline 2 .* is the best with these numbers: .* more than the first: |^Nothing speaks against it: tensor 8 · pipeline 2 /.test(text));
        await ask({ [names.tensor]: 1, [names.pipeline]: 1 });
        await eventually('too large', reply, (text) => text.includes('too much to run without great risk'));
        await ask({ [names.tensor]: 3 });
        await eventually('impossible', reply, (text) => text.startsWith('It cannot work. The 64 attention heads cannot be shared evenly among 3'));
        await ask({ [names.tensor]: 'many' });
        await eventually('no number', reply, (text) => text.includes('must be a whole number'));
    });

    pageTest('the front is walked by keyboard', async () => {
        const page = await open(job);
        const points = page.getByRole('group', { name: /^Plans that no other beats/ });
        const label = () => page.evaluate(() => document.activeElement.getAttribute('aria-label'));
        await points.locator('[tabindex="0"]').focus();
        const first = await label();
        await page.keyboard.press('ArrowRight');
        const second = await eventually('focus', label, (now) => now !== null && now !== first);
        await page.keyboard.press('Enter');
        await addressHas(page, `tp=${/tensor (\d+)/.exec(second)[1]}`);
    });

    pageTest('more rows come on demand', async () => {
        const page = await open('?v=1&model=llama-3.1-8b&gpus=64');
        const rows = page.locator('.ranking tbody tr');
        await eventually('the ranking', () => rows.count(), (count) => count === 20);
        await page.getByRole('button', { name: /^Show \d+ more/ }).click();
        assert.ok(await rows.count() > 20);
    });

    pageTest('how many GPUs: relative to the fewest that fit; a click takes a number', async () => {
        const page = await open(`${job}&tokens=1e12&price=2`);
        const table = page.getByRole('table', { name: 'The best plan for each number of GPUs' });
        const lines = await Promise.all((await table.getByRole('row').all()).map(plain));
        assert.match(lines[0], /Step Tokens\/s Efficiency Whole run GPU-hours Cost$/);
        assert.equal(lines[1], '16 nothing fits');
        assert.match(lines[2], /^32 .* 100 % [\d.]+ days [\d,]+ [\d,]+$/);
        await page.getByRole('button', { name: 'Take 128 GPUs' }).click();
        await addressHas(page, 'gpus=128');
        await headlineIs(page, /^It fits/);
    });

    pageTest('how far it goes: the fewest GPUs, in so many days, and a click takes the answer', async () => {
        const page = await open('?v=1&model=llama-3.1-70b&gpu=h100-sxm-80gb&gpus=64&tokens=1000000000000');
        const wanted = answerOf('limits-70b');   // of the same job
        const section = page.getByRole('region', { name: /^How far does it go/ });
        const answers = section.getByRole('list').first();
        const gpus = (count) => `${count.toLocaleString('en')} GPUs`;
        await eventually('answers', () => plain(answers), (text) => text.includes(`fits: ${gpus(wanted.fewest_gpus.gpus)}`));
        assert.ok((await plain(answers)).includes(`at least ${gpus(wanted.fewest_in_time.gpus)}`));
        assert.ok((await plain(answers)).includes(`${wanted.largest_sequence.value.toLocaleString('en')} tokens`));
        const days = section.getByRole('textbox', { name: 'Days for the whole run', exact: true });
        await days.fill('300');
        await eventually('more days', () => plain(answers), (text) => /at least \d+ GPUs/.test(text) && !text.includes(`at least ${gpus(wanted.fewest_in_time.gpus)}`));
        await days.fill('soon');
        await section.getByText(/is text, not a number/).waitFor();
        assert.equal(await days.getAttribute('aria-invalid'), 'true');
        await days.fill('30');
        await section.getByRole('button', { name: `Take ${gpus(wanted.fewest_gpus.gpus)}`, exact: true }).click();
        await addressHas(page, `gpus=${wanted.fewest_gpus.gpus}`);
        await headlineIs(page, /^It fits/);
        assert.equal(await field(page, names.gpus).inputValue(), String(wanted.fewest_gpus.gpus));
    });

    pageTest('how far it goes: without tokens no number of GPUs is named; the models stand in a table', async () => {
        const page = await open();
        const section = page.getByRole('region', { name: /^How far does it go/ });
        await section.getByText(/say how many tokens/).waitFor();
        await section.getByRole('textbox', { name: 'Tokens of the whole run', exact: true }).fill('1e12');
        await addressHas(page, 'tokens=1000000000000');
        await section.getByText(/at least/).waitFor();
        await folded(page, 'All 21 models').click();
        await section.getByRole('button', { name: 'Take Mistral 7B v0.1', exact: true }).click();
        await addressHas(page, 'model=mistral-7b');
        await page.evaluate(readFileSync(axeFile, 'utf8'));
        const found = await page.evaluate(() => globalThis.axe.run('#limits', { resultTypes: ['violations'] }));
        assert.deepEqual(found.violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`), []);
    });

    pageTest('the map shows the speed too', async () => {
        const page = await open();
        await page.getByRole('button', { name: 'Speed', exact: true }).click();
        const cell = page.getByRole('gridcell', { name: /^8 GPUs: .*the plan above/ });
        assert.match(await cell.getAttribute('aria-label'), new RegExp(`^8 GPUs: ${three(answerOf('default').time.tokens_per_s_per_gpu)} tokens/s per GPU, fits, the plan above, suggested$`));
    });
});

describe('pinned plans', () => {
    const pin = (page) => page.getByRole('button', { name: 'Pin this plan' });
    const table = (page) => page.getByRole('region', { name: 'Pinned plans side by side' }).getByRole('table');
    const heads = async (page) => (await table(page).getByRole('columnheader').locator('.name').allInnerTexts()).map((text) => text.replace(/\s+/g, ' ').trim());
    const row = (page, name) => plain(table(page).getByRole('row', { name: new RegExp(`^${escape(name)}`) }));
    const compared = (page, count) => eventually('the columns', async () => (await heads(page)).length, count);

    pageTest('two plans stand side by side, in the link too, and are unpinned', async () => {
        const page = await open();
        assert.match(await plain(page.locator('#compare')), /No plan is pinned yet\..*Pin this plan/);
        await pin(page).click();
        await addressHas(page, '&pin=model=llama-3.1-8b;gpu=h100-sxm-80gb;gpus=8;');
        await compared(page, 1);
        await knob(page, names.tensor, 4).click();
        await addressHas(page, 'tp=4');
        await compared(page, 2);
        assert.deepEqual(await heads(page), ['The plan shown', 'Pin 1']);
        await pin(page).click();
        await eventually('the heads', async () => (await heads(page)).join(), 'Pin 1,Pin 2 the plan shown');
        const { total_bytes, time } = answerOf('default');
        await eventually('memory', () => row(page, 'On the fullest GPU'), new RegExp(`^On the fullest GPU ${(total_bytes / 2 ** 30).toFixed(1)} GB best [\\d.]+ GB$`));
        assert.match(await row(page, 'One step'), new RegExp(`^One step ${minutes(time.step_seconds)} best `));
        assert.match(await row(page, names.tensor), new RegExp(`^Tensor parallel \\(TP\\) ${answerOf('default').job.tensor_parallel} 4$`));
        assert.equal(await table(page).getByRole('row', { name: /^Precision|^Sequence|^Model/ }).count(), 0, 'what is the same has no row');
        assert.match(await plain(page.locator('#compare .finding')), /^Pin 1 has the shortest step \(.*\) and needs least memory \([\d.]+ GB\)\.$/);
        // The numbers of a pinned plan are those of the plan itself.
        assert.ok((await row(page, 'One step')).includes((await plain(page.locator('.takes'))).match(/takes (.*) \(/)[1]));

        const shown = await plain(table(page));
        const again = await open(new URL(page.url()).search);
        await eventually('the reopened table', () => plain(table(again)), shown);
        assert.equal(await again.locator('.notices p').count(), 0);

        await page.getByRole('button', { name: 'Show Pin 1' }).click();
        await eventually('the heads', async () => (await heads(page)).join(), 'Pin 1 the plan shown,Pin 2');
        await headlineIs(page, (text) => text.includes(sentenceOf(answerOf('default'))));
        await page.getByRole('button', { name: 'Unpin Pin 2' }).click();
        await compared(page, 1);
        assert.equal(new URL(page.url()).searchParams.getAll('pin').length, 1);
        assert.equal(await page.evaluate(() => document.activeElement.id), 'compare', 'the focus stays near');
        await page.goBack();
        await compared(page, 2);
        await page.goForward();
        await compared(page, 1);
        await page.getByRole('button', { name: 'Unpin this plan' }).click();
        await page.getByText('No plan is pinned yet').waitFor();
        assert.equal(new URL(page.url()).searchParams.has('pin'), false);
    });

    pageTest('a pasted model is pinned whole', async () => {
        const config = Object.entries(llama).filter(([, value]) => value === null || typeof value !== 'object');
        const query = new URLSearchParams([['v', '1'], ['model', 'custom'], ...config.map(([key, value]) => [`model.${key}`, String(value)])]);
        const page = await open(`?${query}`);
        await pin(page).click();
        await compared(page, 1);
        const again = await open(new URL(page.url()).search);
        await compared(again, 1);
        assert.deepEqual(await heads(again), ['Pin 1 the plan shown']);
    });

    const base = 'model=llama-3.1-8b;gpu=h100-sxm-80gb;gpus=8;seq=8192;batch=1024;cp=1;pp=1;mb=1;node=8;ep=1';
    pageTest('a pin that cannot work shows why; a broken one is named and left out', async () => {
        const page = await open(`?v=1&node=8&tp=2&cp=1&pp=1&mb=1&ep=1&pin=${base};tp=3&pin=${base};tp=2&pin=tp=banana`);
        assert.match(await plain(page.getByRole('status').first()), /left out: pin=tp=banana/);
        await compared(page, 2);
        await eventually('the verdict', () => row(page, 'Verdict'), /^Verdict Cannot work\. .*3 .* fits$/);
        assert.match(await row(page, 'One step'), /^One step [\d]/, 'the other keeps its numbers');
    });

    pageTest('six at most; whole run and its cost where a budget is set; all of them on paper', async () => {
        const plans = [1, 2, 4, 8].map((tp) => `${base};tp=${tp};tokens=1000000000000;price=2;watts=1000`);
        const more = [1, 2].map((tp) => `${base};tp=${tp};rc=full`);
        const page = await open(`?v=1&gpus=16${[...plans, ...more].map((one) => `&pin=${one}`).join('')}`);
        await compared(page, 7);
        assert.equal(await pin(page).count(), 0);
        await page.getByRole('link', { name: '6 plans are pinned; unpin one first' }).waitFor();
        await eventually('cost', () => row(page, 'Cost'), /^Cost – [\d,]+ .*best.* – –$/);
        for (const name of ['GPU-hours', 'Energy', 'Tokens to train on', 'Recompute activations', 'Share of the GPU’s peak']) await row(page, name);
        await page.emulateMedia({ media: 'print' });
        await page.setViewportSize({ width: 720, height: 1000 });
        const [box, room] = await table(page).evaluate((element) => [element.scrollWidth, element.parentElement.clientWidth]);
        assert.ok(box <= room, `${box} in ${room}`);
        assert.ok(await table(page).isVisible());
    });

    pageTest('the table is copied with tabs and as Markdown', async () => {
        const page = await open(`?v=1&node=8&tp=2&cp=1&pp=1&mb=1&pin=${base};tp=4`);
        await compared(page, 2);
        await page.evaluate(() => { navigator.clipboard.writeText = async (text) => { globalThis.copied = text; }; });
        const copy = async (name) => {
            await page.locator('#compare').getByRole('button', { name }).click();
            return page.evaluate(() => globalThis.copied);
        };
        await eventually('the answer', () => row(page, 'Verdict'), 'Verdict fits fits');
        assert.match(await copy('Copy table'), /^\tThe plan shown\tPin 1\nTensor parallel \(TP\)\t2\t4\n/);
        assert.match(await copy('Copy as Markdown'), /^\| {2}\| The plan shown \| Pin 1 \|\n\| --- \| --- \| --- \|\n/);
    });
});

describe('stages and the step', () => {
    pageTest('a stage is chosen by keyboard; its items and its curve follow', async () => {
        const { stages, total_bytes } = answerOf('llama-70b-64-h100');
        const page = await open(fourStages);
        const list = page.getByRole('list', { name: names.stages });
        await list.waitFor();
        assert.match(await plain(page.locator('.stages .finding')), /^Stage 1 is the fullest/);
        await list.locator('[tabindex="0"]').focus();
        await page.keyboard.press('ArrowDown');
        await page.keyboard.press('ArrowDown');
        await page.keyboard.press('Enter');
        await page.getByRole('columnheader', { name: 'What fills stage 3' }).waitFor();
        assert.match(await plain(page.locator('.stages [role=status]')), /stage 3 of 4, not the fullest/);
        assert.equal(await amount(page), Number(gib(stages[2].bytes)));
        assert.equal(await part(page, 'Outside').count(), 0);
        await eventually('the curve', () => plain(page.locator('.step .finding')), /^Peak of 3\d\.\d GB/);
        assert.equal(new URL(page.url()).searchParams.has('stage'), false);
        await headlineIs(page, /47 of 80 GB/);   // the verdict stays the fullest stage's
        await page.getByRole('button', { name: 'Back to the fullest stage' }).click();
        await eventually('amount', () => amount(page), Number(gib(total_bytes)));
    });

    pageTest('the curve tells every pass, and its numbers stand in a table', async () => {
        const page = await open(fourStages);
        await eventually('finding', () => plain(page.locator('.step .finding')), /^Peak of 4\d\.\d GB in the backward pass of micro-batch 1$/);
        const curve = page.getByRole('slider', { name: names.curve });
        assert.match(await curve.locator('path.top').getAttribute('d'), /^M[\d.]+ [\d.]+(L[\d.]+ [\d.]+)+$/);
        await curve.focus();
        await page.keyboard.press('Home');
        const told = () => curve.getAttribute('aria-valuetext');
        await eventually('first pass', told, /^The forward pass of micro-batch 1: [\d.]+\s?GB$/);
        await page.keyboard.press('ArrowRight');
        await eventually('second pass', told, /^The forward pass of micro-batch 2: /);
        await page.locator('.step').getByText('As a table').click();
        const { curve: { bytes } } = answerOf('llama-70b-64-h100');
        assert.ok((await plain(page.locator('.step table'))).includes(`forward 1 1 0 1 ${gib(bytes[0])} forward 2 1 1 2 ${gib(bytes[1])} `));
        assert.ok(await page.getByText('those that are left out, in its middle, repeat this pattern').isVisible());
    });

    pageTest('the timeline tells every pass and every wait, zooms by keyboard and by dragging, and follows the plan', async () => {
        const page = await open(fourStages);
        const lanes = page.getByRole('slider', { name: names.timeline });
        await lanes.waitFor();
        const part = page.locator('.timeline');
        assert.match(await plain(part.locator('.finding')), /^Stages wait \d+ % of the pipeline’s time on average; stage 4 sets the pace$/);
        await eventually('painted', () => lanes.locator('canvas').evaluate((canvas) => {
            const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
            return new Set(Array.from({ length: data.length / 400 }, (_, i) => data.slice(i * 400, i * 400 + 4).join())).size;
        }), (colours) => colours > 3);
        // The keyboard: to a pass of another stage, larger and back.
        const told = () => lanes.getAttribute('aria-valuetext');
        const wide = () => lanes.evaluate((frame) => frame.scrollWidth / frame.clientWidth);
        await lanes.focus();
        await page.keyboard.press('Home');
        await eventually('the first pass of the slowest stage', told, /^Stage 4, forward pass of micro-batch 1: [\d,.]+ to [\d,.]+\sms$/);
        await page.keyboard.press('ArrowRight');
        await eventually('the next', told, /^Stage 4, backward pass of micro-batch 1: /);
        await page.keyboard.press('ArrowUp');
        await eventually('another stage', told, /^Stage 3, forward pass of micro-batch \d: .* of waiting$/);
        assert.equal(await wide(), 1);
        await page.keyboard.press('+');
        await page.keyboard.press('+');
        await eventually('zoomed', wide, (times) => times > 2.5 && times < 2.6);
        await page.keyboard.press('0');
        await eventually('whole', wide, 1);
        await page.keyboard.press('End');
        await eventually('the last pass', told, /^Stage 3, backward pass of micro-batch 16: /);
        // Pointer: a wait is told too; dragging enlarges a stretch; the wheel with Ctrl, and the buttons.
        const box = await lanes.boundingBox();
        await page.mouse.move(box.x + 2, box.y + box.height - 40);
        await eventually('waiting', () => plain(part.locator('.readout')), /^Stage 4, waiting: 0 to [\d,]+ ms$/);
        await page.mouse.move(box.x + 100, box.y + 60);
        await page.mouse.down();
        await page.mouse.move(box.x + 300, box.y + 60, { steps: 3 });
        await page.mouse.up();
        await eventually('enlarged', wide, (times) => Math.abs(times - box.width / 200) < 0.1);
        const before = await wide();
        await page.keyboard.down('Control');
        await page.mouse.wheel(0, 100);
        await page.keyboard.up('Control');
        await eventually('smaller', wide, (times) => times < before);
        await part.getByRole('button', { name: 'Everything' }).click();
        await eventually('whole', wide, 1);
        assert.equal(await part.getByRole('button', { name: 'Zoom out' }).getAttribute('aria-disabled'), 'true');
        // The numbers, and another plan.
        await part.getByText('Stages as a table').click();
        await eventually('stages', () => plain(part.locator('table').first()), /Stage Works Waits Waits, of the pipeline’s time 1 .* 2 .* 3 .* 4 /);
        await part.getByText('Passes of stage 2 as a table').click();   // the one last pressed, wherever the pointer went since
        await eventually('passes', () => plain(part.locator('table').last()), /Pass Micro-batch Chunk Start \(ms\) End \(ms\) forward 1 1 /);
        await knob(page, names.pipeline, 8).click();
        await eventually('eight stages', () => plain(part.locator('.finding')), /stage 8 sets the pace$/);
    });

    pageTest('one stage needs no chart of stages; the curve comes when it is opened', async () => {
        const page = await open('?v=2&pp=1');
        assert.equal(await page.locator('.stages').count(), 0);
        await page.getByText('Memory over the step').click();
        await page.getByRole('slider', { name: names.curve }).waitFor();
    });

    pageTest('126 stages stay usable', async () => {
        const page = await open('?v=1&model=llama-3.1-405b&gpus=2016&pp=126&tp=8&mb=1&batch=2048', { width: 390 });
        const list = page.getByRole('list', { name: names.stages });
        await list.waitFor();
        assert.equal(await list.getByRole('button').count(), 126);
        await list.locator('[tabindex="0"]').focus();
        await page.keyboard.press('End');
        await page.keyboard.press('Enter');
        await page.getByRole('columnheader', { name: 'What fills stage 126' }).waitFor();
    });
});

describe('the layers of the stages', () => {
    const job = '?v=1&model=llama-3.1-70b&gpu=h100-sxm-80gb&gpus=64&pp=4&tp=8&cp=1&mb=1';
    const layers = async (page) => (await page.locator('.layers td b').allInnerTexts()).map(Number);
    const layout = (page) => page.getByRole('combobox', { name: /^Layers/ });
    pageTest('are shown, moved one by one, written as a text, and chosen again', async () => {
        const page = await open(job);
        await folded(page, 'Pipeline').click();
        assert.equal(await layout(page).inputValue(), 'equal');
        await folded(page, 'Layers of every stage').click();
        assert.deepEqual(await layers(page), [20, 20, 20, 20]);
        await page.getByRole('button', { name: 'Stage 1: one layer less, given to stage 2' }).click();
        await page.getByRole('button', { name: 'Stage 4: one layer less, given to stage 3' }).click();
        await eventually('moved', () => layers(page), (now) => now.join() === '19,21,21,19');
        const text = page.getByRole('textbox', { name: /Megatron’s notation/ });
        assert.equal(await text.inputValue(), 'Et*19|(t*21|)*2t*19L');
        await eventually('address', () => new URL(page.url()).searchParams.get('layout'), 'Et*19|(t*21|)*2t*19L');
        await eventually('the plan', () => planLine(page), /layers 19 \| 2 × 21 \| 19/);
        await eventually('the stages', () => plain(page.getByRole('list', { name: names.stages })), /19 layers, embedding .*21 layers .*19 layers, loss/);
        await text.fill('Et*19|t*21|t*21|t*18L');
        await headlineIs(page, /^(Cannot work|Not clear yet)\./);
        assert.equal(await text.getAttribute('aria-invalid'), 'true');
        await page.getByRole('button', { name: /^Set Layers.* to / }).first().click();
        await headlineIs(page, /^(It fits|At risk|It does not fit)/);
        await layout(page).selectOption('equal');
        await eventually('even', () => layers(page), (now) => now.join() === '20,20,20,20');
        await layout(page).selectOption('auto');
        await eventually('address', () => new URL(page.url()).searchParams.has('layout'), false);
    });

    for (const width of [1280, 390]) {
        pageTest(`axe finds nothing at ${width} px, and nothing is too wide`, async () => {
            const page = await open(`${job}&layout=Et*19|(t*21|)*2t*19L`, { width });
            await openAll(page);
            await page.locator('.layers table').waitFor();
            await page.evaluate(readFileSync(axeFile, 'utf8'));
            const found = await page.evaluate(() => globalThis.axe.run('.adjust', { resultTypes: ['violations'] }));
            assert.deepEqual(found.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html)}`), []);
            assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
        });
    }
});

describe('the map of plans', () => {
    pageTest('a click on a cell opens that plan', async () => {
        const page = await open('?v=1&model=llama-3.1-70b&gpu=h100-sxm-80gb&gpus=64');
        const grid = page.getByRole('grid', { name: names.grid });
        const cell = grid.getByRole('gridcell', { name: /^64 GPUs: .*, fits$/ }).first();
        const gib = Number(/: ([\d.]+) GiB/.exec(await cell.getAttribute('aria-label'))[1]);
        await cell.click();
        await eventually('amount', () => amount(page), (now) => Math.abs(now - gib) < 0.06);
        await headlineIs(page, /^It fits/);
        for (const key of ['tp=', 'pp=', 'cp=', 'mb=']) await addressHas(page, key);
        assert.equal(new URL(page.url()).searchParams.has('rc'), false, 'everything else is chosen');
    });

    pageTest('arrow keys move, Enter opens', async () => {
        const page = await open();
        const grid = page.getByRole('grid', { name: names.grid });
        await grid.locator('[tabindex="0"]').focus();
        const focused = () => page.evaluate(() => document.activeElement.getAttribute('aria-label'));
        const first = await focused();
        await page.keyboard.press('ArrowRight');
        const second = await eventually('focus', focused, (label) => label !== first && /GPUs: /.test(label));
        await page.keyboard.press('Enter');
        await addressHas(page, `gpus=${/^[\d,]+/.exec(second)[0].replaceAll(',', '')}`);
    });
});

describe('links', () => {
    const link = '?v=1&model=llama-3.1-70b&gpu=h100-sxm-80gb&gpus=64&tp=8&pp=4&cp=1&mb=2&seq=4096&batch=512&vp=2&zero=none&attn=plain&offload=0.5&rc=selective&rcm=core_attn,layernorm';

    pageTest('a link restores the whole state', async () => {
        const page = await open(link);
        assert.equal(await field(page, names.gpus).inputValue(), '64');
        assert.match(await page.getByRole('combobox', { name: names.model, exact: true }).inputValue(), /Llama 3\.1 70B/);
        assert.match(await field(page, names.sequence).inputValue(), /^4,?096$/);
        assert.match(await field(page, names.batch).inputValue(), /^512$/);
        assert.match(await plain(page.locator('#answer')), /tensor 8 · pipeline 4 · context 1 · .*micro-batch 2/);
        // Touching one thing keeps the others.
        await knob(page, names.pipeline, 8).click();
        await addressHas(page, 'pp=8');
        const now = new URL(page.url()).searchParams, was = new URLSearchParams(link);
        const wanted = { ...Object.fromEntries(was), v: '2', pp: '8', sched: '1f1b', layout: 'equal' };   // and what version 1 meant without saying it
        for (const [key, value] of Object.entries(wanted)) assert.equal(now.get(key), value, key);
    });

    pageTest('back and forward go through the choices', async () => {
        const page = await open('?v=2&model=llama-3.1-8b&gpu=h100-sxm-80gb&gpus=8&seq=8192&batch=1024');
        const start = await planLine(page);
        await page.getByRole('group', { name: names.tensor }).locator('[aria-pressed=false][aria-disabled=false]').first().click();
        const second = await eventually('another plan', () => planLine(page), (text) => text !== start);
        await page.goBack();
        await eventually('back', () => planLine(page), start);
        await page.goForward();
        await eventually('forward', () => planLine(page), second);
    });

    pageTest('a link from before the second method: what is gone is named, what is wrong is marked', async () => {
        const page = await open('?v=1&model=llama-3.1-70b&gpus=64&distopt=false&attn=selective');
        await page.locator('.problems').waitFor();
        assert.match(await plain(page.getByRole('status').first()), /distopt/);
        assert.match(await plain(headline(page)), /^Not clear yet\. Attention/);
        await page.getByRole('button', { name: /^Change Attention/ }).click();
        await page.getByRole('combobox', { name: 'Attention', exact: true }).selectOption('auto');
        await headlineIs(page, /^It fits/);
    });

    pageTest('what a link has too much is named and left out', async () => {
        const page = await open('?v=1&model=llama-3.1-8b&gpus=8&colour=red&__proto__=1&constructor=2&tp=2');
        await headlineIs(page, /^It fits/);
        assert.match(await plain(page.getByRole('status').first()), /colour/);
        await page.getByRole('button', { name: names.dismiss }).click();
    });

    pageTest('a link of a newer version says so', async () => {
        const page = await open('?v=3&model=llama-3.1-8b&gpus=8&tp=2');
        await headlineIs(page, /^It fits/);
        assert.match(await plain(page.getByRole('status').first()), /newer version/);
    });

    pageTest('a link of version 1 shows the plan that it showed; one without a plan says that more is chosen now', async () => {
        const page = await open('?v=1&model=llama-3.1-70b&gpus=64&tp=8&pp=4&cp=1&mb=1');
        assert.match(await plain(page.locator('.plan')), /^your plan tensor 8 · pipeline 4 · context 1 · data 2 · micro-batch 1 Why/);
        assert.equal(await page.locator('.notices p').count(), 0);
        await folded(page, 'Pipeline').click();
        assert.equal(await page.getByRole('combobox', { name: 'Pipeline schedule' }).inputValue(), '1f1b');
        await page.getByRole('button', { name: 'Chunks per GPU (virtual pipeline): reset to auto' }).click();
        await addressHas(page, 'v=2');
        assert.deepEqual(['vp', 'sched', 'zero'].map((key) => new URL(page.url()).searchParams.get(key)), [null, '1f1b', 'optimizer']);
        const open_ = await open('?v=1&model=llama-3.1-70b&gpus=64');
        assert.match(await plain(open_.getByRole('status').first()), /Fourfold now also chooses recomputation, chunks per GPU, and layers per stage/);
        assert.match(await plain(open_.locator('.plan')), /^chosen for you /);
    });

    for (const query of ['?v=1&tp=banana', '?gpus=-8', '?gpus=1e9999', '?model=nobody', '?gpu=', '?seq=99999999999999999999', '?cluster=moon',
        '?attn=%00', '?gpus=%F0%9F%A6%99', '?model=custom', '?model=custom&model.hidden_size=abc', '?grad32=maybe', '?attn=selective', '?offload=half', '?tokens=many', '?price=-1', '?rcm=everything', '?gpus=7&tp=2', '?layout=nonsense', '?vp=many', '?vgroup=-1', '?rc=banana', '?sp=perhaps', '?without=everything', `?model=${'x'.repeat(5000)}`]) {
        pageTest(`a broken link tells which field is wrong: ${query.slice(0, 60)}`, async () => {
            const page = await open(query);
            await page.locator('.problems').waitFor();
            await page.locator('[aria-invalid=true]').first().waitFor({ state: 'attached' });   // the field is marked; some fields come later
            assert.match(await plain(headline(page)), /^(Cannot work|Not clear yet)\. ./);
        });
    }
});

describe('mistakes', () => {
    pageTest('an unknown method is mended at its own control', async () => {
        const page = await open('?method=x&tp=2');
        await page.getByRole('button', { name: /^Change How it is counted/ }).click();
        await page.getByRole('radio', { name: names.fujii }).check();
        await headlineIs(page, /^It fits/);
    });

    pageTest('an impossible number keeps the last answer, names the field, and is mended by one click', async () => {
        const page = await open();
        await field(page, names.gpus).fill('7');
        await ownValue(page, names.tensor).fill('3');
        await page.locator('.problems').waitFor();
        await headlineIs(page, /^Cannot work/);
        await page.getByRole('group', { name: 'Memory of the fullest GPU' }).waitFor();   // the bar of the last good answer
        assert.ok(await page.getByText('From the last run that could be worked out').isVisible());
        for (let i = 0; i < 4 && await page.locator('.problems').count() > 0; ++i) {
            const problems = () => page.locator('.problems').allInnerTexts().then(String);
            const before = await problems();
            await page.getByRole('button', { name: /^Set .* to / }).first().click();
            await eventually('applied', problems, (now) => now !== before);
        }
        await headlineIs(page, /^(It fits|At risk|It does not fit)/);
    });

    pageTest('text where a number belongs', async () => {
        const page = await open();
        await field(page, names.sequence).fill('many');
        await page.locator('.problems').waitFor();
        assert.equal(await field(page, names.sequence).getAttribute('aria-invalid'), 'true');
        const why = await page.locator(`#${(await field(page, names.sequence).getAttribute('aria-describedby')).split(' ')[0]}`).innerText();
        assert.ok(why.length > 10);
        await field(page, names.sequence).fill('8192');
        await headlineIs(page, /^It fits/);
    });

    pageTest('a half-typed number is not called a mistake at once', async () => {
        const page = await open();
        // The page's own clock: from the key to the words, however slow the machine is.
        const pause = page.evaluate(() => new Promise((told) => {
            let typed;
            addEventListener('input', () => { typed ??= performance.now(); }, true);
            new MutationObserver(() => document.querySelector('.problems') && told(performance.now() - typed)).observe(document.body, { childList: true, subtree: true });
        }));
        await field(page, names.gpus).fill('');
        assert.ok(await pause > 300);
        await field(page, names.gpus).fill('16');
        await addressHas(page, 'gpus=16');
        await eventually('mended', () => page.locator('.problems').count(), 0);
    });
});

describe('a pasted config.json', () => {
    async function pasteDialog(page) {
        await page.getByRole('combobox', { name: names.model, exact: true }).click();
        await page.getByRole('option', { name: names.paste }).click();
        const dialog = page.getByRole('dialog');
        await dialog.waitFor();
        return { dialog, text: dialog.getByRole('textbox', { name: names.configText }) };
    }

    pageTest('gives the same answer as the built-in model, and a link that carries it', async () => {
        const page = await open();
        const before = await plain(headline(page));
        const { dialog, text } = await pasteDialog(page);
        await text.fill(JSON.stringify(llama, null, 2));
        await dialog.getByRole('heading', { name: /8,030,261,248 parameters/ }).waitFor();
        await dialog.getByRole('button', { name: names.useModel }).click();
        await addressHas(page, 'model=custom');
        await headlineIs(page, (now) => now === before);
        const again = await open(new URL(page.url()).search);
        await headlineIs(again, (now) => now === before);
    });

    pageTest('can be dropped anywhere on the page', async () => {
        const page = await open();
        await page.evaluate((config) => {
            const data = new DataTransfer();
            data.items.add(new File([config], 'config.json', { type: 'application/json' }));
            document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
        }, JSON.stringify({ ...llama, num_hidden_layers: 16 }));
        const dialog = page.getByRole('dialog');
        await dialog.getByRole('heading', { name: /parameters/ }).waitFor();
        await dialog.getByRole('button', { name: names.useModel }).click();
        await addressHas(page, 'model.num_hidden_layers=16');
    });

    pageTest('what is no config is explained, and cannot be used', async () => {
        const page = await open();
        const before = await plain(headline(page));
        const { dialog, text } = await pasteDialog(page);
        for (const wrong of ['{', '[1, 2]', 'hello', '{"model_type": "bert"}', '{"hidden_size": "wide"}', '<html>', '{"model_type": "llama", "hidden_size": 1e99}']) {
            await text.fill(wrong);
            await dialog.getByText(/keeps? it from being used/).waitFor();
            await dialog.getByRole('button', { name: names.useModel }).click({ force: true });   // it says that it is disabled
            assert.ok(await dialog.isVisible(), wrong);
            await text.fill('');
            await dialog.getByText('Waiting for a config').waitFor();
        }
        await page.keyboard.press('Escape');
        await dialog.waitFor({ state: 'hidden' });
        assert.equal(await plain(headline(page)), before);
    });

    pageTest('ten megabytes are refused without stopping the page', async () => {
        const page = await open();
        const { dialog, text } = await pasteDialog(page);
        await text.focus();
        const took = await page.evaluate(() => {
            const start = performance.now();
            const data = new DataTransfer();
            data.setData('text/plain', '{"a":1,'.repeat(1_500_000));
            const event = new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true });
            document.activeElement.dispatchEvent(event);
            return performance.now() - start;
        });
        assert.ok(took < 5000, `${took} ms`);
        await dialog.getByText(/10\.5 MB.*1 MB/).waitFor();
        await dialog.getByRole('button', { name: names.cancel }).click();
        await field(page, names.gpus).fill('16');
        await addressHas(page, 'gpus=16');
    });

    pageTest('ten megabytes dropped as a file are refused too', async () => {
        const page = await open();
        await page.evaluate(() => {
            const data = new DataTransfer();
            data.items.add(new File(['x'.repeat(10_000_000)], 'config.json'));
            document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
        });
        await eventually('notice', () => plain(page.getByRole('status').first()), /10\.0 MB/);
    });
});

describe('for everybody', () => {
    const axe = readFileSync(axeFile, 'utf8');
    async function violations(page) {
        await page.evaluate(axe);
        const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
        return found.violations.map(({ id, help, nodes }) => `${id}: ${help} (${nodes.slice(0, 3).map((node) => node.html.slice(0, 100)).join(' | ')})`);
    }
    for (const width of [1280, 390]) {
        for (const colorScheme of ['light', 'dark']) {
            pageTest(`axe finds nothing at ${width} px, ${colorScheme}`, async () => {
                const page = await open('', { width, colorScheme });
                await part(page, 'Activations').click();
                await openAll(page);
                assert.deepEqual(await violations(page), [], 'with a card open');
                await field(page, names.gpus).fill('7');
                await ownValue(page, names.tensor).fill('3');
                await page.locator('.problems').waitFor();
                assert.deepEqual(await violations(page), [], 'with problems shown');
            });
            pageTest(`axe finds nothing at ${width} px, ${colorScheme}: stages, curve, comparison, settings`, async () => {
                const page = await open(`${fourStages}&rc=selective`, { width, colorScheme });
                await page.getByRole('list', { name: names.stages }).waitFor();
                await openAll(page);
                await page.getByRole('slider', { name: names.curve }).waitFor();
                await page.getByRole('slider', { name: names.timeline }).waitFor();
                await page.locator('.methods').waitFor();
                await page.getByRole('button', { name: /^Tensor traffic/ }).click();
                await page.getByRole('article', { name: /^Tensor/ }).waitFor();
                await page.getByRole('list', { name: names.stages }).getByRole('button').nth(2).click();
                await page.getByRole('button', { name: 'Back to the fullest stage' }).waitFor();
                assert.deepEqual(await violations(page), []);
            });
            pageTest(`axe finds nothing at ${width} px, ${colorScheme}: pinned plans`, async () => {
                const pins = [2, 3, 4].map((tp) => `&pin=model=llama-3.1-8b;gpu=h100-sxm-80gb;gpus=8;seq=8192;batch=1024;cp=1;pp=1;mb=1;tp=${tp}`);
                const page = await open(`?v=1&gpus=8&tokens=1e12${pins.join('')}`, { width, colorScheme });
                await page.locator('#compare .best-mark').first().waitFor();
                await folded(page, 'Where the time goes').click();
                await page.locator('.time-items').waitFor();
                assert.deepEqual(await violations(page), []);
                assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth), 'the table scrolls, not the page');
            });
            pageTest(`axe finds nothing at ${width} px, ${colorScheme}: too large, and the paste dialog`, async () => {
                const page = await open('?v=1&model=llama-3.1-405b&gpus=8', { width, colorScheme });
                assert.deepEqual(await violations(page), [], 'a run that does not fit');
                await page.getByRole('combobox', { name: names.model, exact: true }).click();
                assert.deepEqual(await violations(page), [], 'the list of models open');
                await page.getByRole('option', { name: names.paste }).click();
                await page.getByRole('dialog').getByRole('textbox').fill('{');
                await page.getByText(/keeps? it from being used/).waitFor();
                assert.deepEqual(await violations(page), [], 'the paste dialog');
            });
        }
    }

    for (const width of [320, 390, 1280]) {
        pageTest(`nothing is wider than the screen at ${width} px`, async () => {
            const page = await open('', { width, height: 700 });
            const tooWide = () => page.evaluate(() => {
                const room = document.documentElement.clientWidth;
                return document.documentElement.scrollWidth > room ? `${document.documentElement.scrollWidth} in ${room}` : '';
            });
            assert.equal(await tooWide(), '');
            await part(page, 'Activations').click();
            assert.equal(await tooWide(), '', 'with a card open');
            await openAll(page);
            await page.getByRole('slider', { name: names.timeline }).waitFor();
            assert.equal(await tooWide(), '', 'with everything unfolded');
            await page.goto(`${served.url}${fourStages}&rc=selective`);
            await page.getByRole('list', { name: names.stages }).waitFor();
            await openAll(page);
            await page.locator('.methods').waitFor();
            await page.getByRole('slider', { name: names.timeline }).waitFor();
            assert.equal(await tooWide(), '', 'with stages');
            await page.goto(`${served.url}?v=1&model=llama-3.1-405b&gpus=16384&gpu=h100-sxm-94gb&seq=131072`);
            await settled(page);
            await page.waitForLoadState('networkidle');   // a file on its way would fail when the page is left
            assert.equal(await tooWide(), '', 'with long numbers');
            await page.goto(`${served.url}?v=1&gpus=7&tp=3&model=${'x'.repeat(300)}`);
            await page.locator('.problems').waitFor();
            assert.equal(await tooWide(), '', 'with problems');
        });
    }

    pageTest('keyboard alone: from the address bar to a formula and to another plan', async () => {
        const page = await open();
        const focus = () => page.evaluate(() => {
            const at = document.activeElement;
            const shape = at.getBoundingClientRect();
            return { name: at.getAttribute('aria-label') ?? at.innerText ?? '', visible: shape.width > 0 && shape.height > 0, tag: at.tagName };
        });
        const tabTo = async (pattern) => {
            for (let i = 0; i < 80; ++i) {
                await page.keyboard.press('Tab');
                const now = await focus();
                assert.ok(now.visible || now.tag === 'BODY', `focus on something invisible: ${JSON.stringify(now)}`);
                if (pattern.test(now.name)) return;
            }
            assert.fail(`no way by Tab to ${pattern}`);
        };
        await page.keyboard.press('Tab');
        assert.match((await focus()).name, /Skip/);
        await tabTo(/^Number of GPUs$/);
        await page.keyboard.press('ArrowUp');
        await addressHas(page, 'gpus=16');
        await tabTo(/^Weights/);
        await page.keyboard.press('Enter');
        await page.getByRole('article', { name: /Weights/ }).waitFor();
        await tabTo(/^Tensor parallel \(TP\) 8: /);
        await page.keyboard.press('Space');
        await addressHas(page, 'tp=8');
    });
});

describe('calibration with runs of one\'s own', () => {
    const own = '?v=1&model=llama-3.1-8b&gpu=h100-sxm-80gb&gpus=64&batch=512';
    const five = 'gpus,tp,pp,cp,mb,step_seconds\n64,1,4,1,1,9.1\n64,2,2,1,1,9.3\n128,2,1,1,2,4.7\n128,4,1,1,4,5.1\n256,1,2,1,1,2.9\n';
    const openPart = async (page) => {
        await folded(page, names.calibrate).click();
        await eventually('header', () => field(page, names.ownRuns).inputValue(), /^gpus,tp,pp,cp,mb,step_seconds\n$/);
        return field(page, names.ownRuns);
    };
    const stepTime = async (page) => /One step (?:takes|would take) (\S+\s\S+)/.exec(await plain(page.locator('main')))?.[1];

    pageTest('runs give a factor, which is applied, taken back by the browser, applied again and removed', async () => {
        const page = await open(own);
        const runs = await openPart(page);
        const before = await stepTime(page);
        await runs.fill(five);
        await page.getByRole('heading', { name: /^Calibrated, your runs lie .* off on average instead of/ }).waitFor();
        const apply = page.getByRole('button', { name: names.apply, exact: true });
        await apply.click();
        await addressHas(page, 'factor=1.');
        const after = await eventually('time', () => stepTime(page), (now) => now !== before);
        await page.getByRole('button', { name: 'In use', exact: true }).waitFor();
        await page.goBack();
        await eventually('time', () => stepTime(page), before);
        assert.equal(await runs.inputValue(), five);   // nothing typed is lost
        await apply.click();
        await eventually('time', () => stepTime(page), after);
        await page.getByRole('button', { name: names.remove }).click();
        await eventually('address', () => page.url(), (url) => !url.includes('factor='));
        await eventually('time', () => stepTime(page), before);
        await page.locator('.calibrate summary').click();
        await eventually('rows', () => page.locator('.calibrate tbody tr').count(), 5);
        await page.evaluate(readFileSync(axeFile, 'utf8'));
        const found = await page.evaluate(() => globalThis.axe.run(document.querySelector('.calibrate'), { resultTypes: ['violations'] }));
        assert.deepEqual(found.violations.map((one) => one.id), []);
    });

    pageTest('one run never rescales; a line of nonsense is named and stays; the plan shown becomes a line', async () => {
        const page = await open(`${own}&tp=2&pp=2&cp=1&mb=1`);
        const runs = await openPart(page);
        await page.getByRole('button', { name: names.addPlan }).click();
        await eventually('line', () => runs.inputValue(), 'gpus,tp,pp,cp,mb,step_seconds\n64,2,2,1,1,');
        await page.getByText('Line 2: step_seconds is empty').waitFor();
        await page.keyboard.type('9.3');   // the cursor waits where the time belongs
        await page.getByText('One run alone never rescales').waitFor();
        assert.equal(await page.getByRole('button', { name: names.apply, exact: true }).count(), 0);
        await runs.fill(`${five}64,3,1,1,1,oops`);
        await page.getByText(/^Line 7: step_seconds must be a number; "oops" is none/).waitFor();
        assert.equal(await page.getByRole('button', { name: names.apply, exact: true }).count(), 0);
        assert.match(await runs.inputValue(), /oops$/);
    });
});

describe('placement on measured links', () => {
    const run = '?v=1&model=llama-3.1-8b&gpu=h100-sxm-80gb&gpus=64&tp=2&pp=4&cp=1&mb=1';
    const section = (page) => page.locator('#placement');
    const openPart = async (page) => {
        await page.getByRole('button', { name: names.useLinks }).click();
        const text = field(page, names.links);
        await text.waitFor();
        return text;
    };
    const clean = async (page, what) => {
        await page.evaluate(readFileSync(axeFile, 'utf8'));
        const found = await page.evaluate(() => globalThis.axe.run(document.querySelector('#placement'), { resultTypes: ['violations'] }));
        assert.deepEqual(found.violations.map((one) => one.id), [], what);
    };

    for (const [width, colorScheme] of [[1280, 'light'], [390, 'dark'], [390, 'light'], [1280, 'dark']]) {
        pageTest(`the example: a slow link is named, a placement found, its rank file taken; ${width} px, ${colorScheme}`, async () => {
            const page = await open(run, { width, colorScheme });
            const text = await openPart(page);
            await page.getByRole('button', { name: names.example }).click();
            await page.getByRole('heading', { name: /^2 of 56 links are slower than half the median; the slowest, node-3 to node-4, does 4.1.GB/ }).waitFor();
            assert.match(await text.inputValue(), /^# A made-up measurement/);
            const map = page.getByRole('slider', { name: names.linksMap });
            await map.focus();
            for (const key of ['ArrowDown', 'ArrowDown', 'ArrowRight', 'ArrowRight', 'ArrowRight']) await page.keyboard.press(key);
            assert.match(await map.getAttribute('aria-valuetext'), /^node-3 to node-4: 4.1.GB\/s, 9.% of the median$/);
            await page.getByRole('combobox', { name: names.searchTime }).selectOption({ label: '1\u00a0s' });
            await page.getByRole('button', { name: names.findPlacement }).click();
            await page.getByRole('heading', { name: /^\d+.% shorter steps: .* instead of .*, if the measurement holds\.$/ }).waitFor();
            const pictures = section(page).getByRole('img');
            assert.match(await pictures.nth(0).getAttribute('aria-label'), /^Before: .*node-3 to node-4, 4.1.GB/);
            assert.doesNotMatch(await pictures.nth(1).getAttribute('aria-label'), /4.1.GB/);
            const file = section(page).locator('summary', { hasText: 'hostfile.txt' });
            await file.click();
            const lines = (await section(page).locator('pre').nth(2).innerText()).trim().split('\n');
            assert.deepEqual(lines.map((line) => line.split(' ')[0]).sort(), Array.from({ length: 8 }, (_, i) => `node-${i + 1}`));
            const [saved] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'Download hostfile.txt' }).click()]);
            assert.equal(saved.suggestedFilename(), 'hostfile.txt');
            assert.equal(readFileSync(await saved.path(), 'utf8').trim(), lines.join('\n'));
            assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false);
            await clean(page, `${width} ${colorScheme}`);
        });
    }

    pageTest('mistakes are named with row and column, a missing unit is asked for, and what was typed stays', async () => {
        const page = await open(run);
        const text = await openPart(page);
        const wrong = 'GB/s,a,b\na,,12\nb,-3,\n';
        await text.fill(wrong);
        const told = section(page).locator('.wrong');
        await eventually('problem', () => plain(told), /b to a|row 2/);
        assert.equal(await text.inputValue(), wrong);
        assert.equal(await text.getAttribute('aria-invalid'), 'true');
        await text.fill('a,b\n0,12\n11,0\n');
        await eventually('unit', () => plain(told), /unit/i);
        await page.getByLabel(names.linksUnit).selectOption('gbyte_per_s');
        await page.getByRole('heading', { name: /^None of the 2 links is slower/ }).waitFor();
        await page.getByRole('button', { name: names.findPlacement }).click();
        await eventually('too few', () => plain(section(page)), /This takes 8 nodes; only 2 were measured\./);
    });

    pageTest('a search that is stopped keeps the best so far; a change of the run marks it as older; other plans can be placed too', async () => {
        const page = await open(run);
        await openPart(page);
        await page.getByRole('button', { name: names.example }).click();
        await page.getByRole('combobox', { name: names.searchTime }).selectOption('30');
        await page.getByRole('checkbox', { name: names.joint }).check();
        await page.getByRole('button', { name: names.findPlacement }).click();
        // Past the first round of one worker at least (60,000 moves for each plan): only a whole round ranks the plans.
        const workers = await page.evaluate(() => Math.max(1, Math.min(4, navigator.hardwareConcurrency) - 1));
        const moves = (text) => {
            const [, number, million] = /([\d.,]+)( million)? moves tried, .* a second\./.exec(text) ?? [];
            return Number((number ?? '0').replaceAll(',', '')) * (million ? 1e6 : 1);
        };
        await eventually('progress', () => plain(section(page)), (text) => moves(text) > workers * 11 * 60_000);
        await page.getByRole('button', { name: 'Stop', exact: true }).click();
        await page.getByText('Stopped: this is the best so far.').waitFor();
        assert.ok(await section(page).locator('pre').count() === 4);
        const rows = section(page).locator('.joint tbody tr');
        await eventually('plans', () => rows.count(), 11);
        await rows.first().getByRole('button', { name: /^Take it/ }).click();
        await page.getByText('For the run, the measurement or the nodes before the last change.').waitFor();
    });

    // A square measurement in which all links are alike, of nodes a, b, c…
    const even = (count) => {
        const all = Array.from({ length: count }, (_, i) => String.fromCharCode(97 + i));
        return [`GB/s,${all}`, ...all.map((from) => [from, ...all.map((to) => (from === to ? '' : 40))].join(','))].join('\n');
    };
    const differ = async (page, row, { name, speed, memory }) => {
        if (name !== undefined) await page.getByRole('combobox', { name: names.differs }).nth(row).fill(name);
        if (speed !== undefined) await page.getByRole('textbox', { name: names.speed }).nth(row).fill(speed);
        if (memory !== undefined) await page.getByRole('textbox', { name: names.memory }).nth(row).fill(memory);
    };
    const search = (page) => page.getByRole('button', { name: /^(Find a placement|Search again)$/ }).click();
    const found = (page) => section(page).locator('.result-of-placement').waitFor();

    for (const [width, colorScheme] of [[1280, 'light'], [390, 'dark']]) {
        pageTest(`a slow node is left out where another is measured, one with little memory is warned of; ${width} px, ${colorScheme}`, async () => {
            const page = await open(run, { width, colorScheme });
            const text = await openPart(page);
            await text.fill(even(9));
            await page.getByRole('combobox', { name: names.searchTime }).selectOption('1');
            await folded(section(page), names.someDiffer).click();
            await differ(page, 0, { name: 'c', speed: '50' });
            await search(page);
            await page.getByRole('heading', { name: /^\d+.% shorter steps/ }).waitFor();
            await section(page).getByText('◆ c (50\u202f% speed) is left out.').waitFor();
            assert.equal(await section(page).locator('.unfit').count(), 0);
            await page.getByRole('button', { name: 'Add a node' }).click();
            await page.keyboard.type('d');
            await page.getByText('For the run, the measurement or the nodes before the last change.').waitFor();
            await text.fill(even(8));
            await page.getByRole('heading', { name: /^All 56 links/ }).waitFor();
            await differ(page, 1, { memory: '4' });
            await search(page);
            await section(page).getByText(/^× The plan does not fit d: its GPUs have too little memory/).waitFor();
            await section(page).getByText(/^◆ c \(50.% speed\) works on stage \d\.$/).waitFor();
            await section(page).getByText(/^◆ d \(4.GB per GPU\) works on stage \d\.$/).waitFor();
            const pictures = section(page).getByRole('img');
            for (const i of [0, 1]) {
                assert.match(await pictures.nth(i).textContent(), /◆ 50.%/);
                assert.equal(await pictures.nth(i).locator('.differs').count(), 2);
            }
            await folded(section(page), 'Which node does what').click();
            await section(page).getByRole('cell', { name: '◆ 50\u202f% speed', exact: true }).waitFor();
            assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false);
            await clean(page, `${width} ${colorScheme}`);
        });
    }

    pageTest('nodes that cannot be taken are said at their rows, all at once, and nothing is searched; lines can be pasted; what was typed stays', async () => {
        const page = await open(run);
        const text = await openPart(page);
        await text.fill(even(8));
        await folded(section(page), names.someDiffer).click();
        const name = page.getByRole('combobox', { name: names.differs });
        await name.first().focus();
        await page.evaluate(() => {
            const data = new DataTransfer();
            data.setData('text/plain', 'b 50 40\nx 90\nc fast\nd 100 0.5\n');
            document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
        });
        await eventually('rows', () => name.count(), 4);
        await search(page);
        await page.getByText('Nothing was searched: 3 of the nodes that differ cannot be taken as they are.').waitFor();
        const said = async (field) => plain(section(page).locator(`[id="${await field.getAttribute('aria-describedby')}"]`));
        assert.equal(await said(name.nth(1)), 'No unit of the measurement has this name.');
        assert.match(await said(page.getByRole('textbox', { name: names.speed }).nth(2)), /^The relative speed must be .*"fast"/);
        assert.match(await said(page.getByRole('textbox', { name: names.memory }).nth(3)), /^The memory must be .* 0\.5 is too small\./);
        assert.equal(await name.first().getAttribute('aria-invalid'), 'false');
        assert.equal(await section(page).locator('.result-of-placement').count(), 0);
        await clean(page, 'problems at rows');
        await page.getByRole('button', { name: 'Show what is wrong' }).click();
        await eventually('focus', () => page.evaluate(() => document.activeElement.getAttribute('aria-label')), 'Node that differs, row 2');
        await page.keyboard.press('ControlOrMeta+A');
        await page.keyboard.type('e');
        await eventually('the others', () => plain(section(page)), /Nothing was searched: 2 of/);
        await page.getByRole('button', { name: 'Remove d' }).click();
        await differ(page, 2, { speed: '' });
        await text.fill(even(8).replaceAll('40', '30')); // another measurement of the same nodes
        await page.getByRole('heading', { name: /^All 56 links are equally fast: 30/ }).waitFor();
        assert.deepEqual(await name.evaluateAll((all) => all.map((one) => one.value)), ['b', 'e', 'c']);
        await search(page);
        await found(page);
        await section(page).getByText(/^◆ b \(50.% speed, 40.GB per GPU\)/).waitFor();
    });

    pageTest('layers spread another way: the gain is said, one click applies it to the run, Back undoes it', async () => {
        const uneven = '?v=1&model=deepseek-v2-lite&gpu=h100-sxm-80gb&gpus=64&tp=2&pp=4&cp=1&mb=1&embl=1';
        const page = await open(uneven);
        await openPart(page);
        await page.getByRole('button', { name: names.example }).click();
        await page.getByRole('combobox', { name: names.searchTime }).selectOption('1');
        await search(page);
        await found(page);
        const suggestion = section(page).locator('.suggestion');
        assert.match(await plain(suggestion), /: then a step takes [\d.]+ s instead of [\d.]+ s\./);
        const before = page.url();
        await suggestion.getByRole('button', { name: /^Do that: / }).click();
        await page.getByText('For the run, the measurement or the nodes before the last change.').waitFor();
        assert.notEqual(page.url(), before);
        assert.match(page.url(), /pp=4/);
        await eventually('applied', () => plain(suggestion.getByRole('button')), 'Done');
        await page.goBack();
        await eventually('undone', () => plain(suggestion.getByRole('button')), 'Do that');
        assert.equal(page.url(), before);
    });

    pageTest('links that are all alike leave nothing to gain', async () => {
        const page = await open(run);
        const text = await openPart(page);
        const cells = (row) => Array.from({ length: 8 }, (_, column) => (row === column ? '' : '40')).join(',');
        await text.fill(`# GB/s\n${Array.from({ length: 8 }, (_, row) => cells(row)).join('\n')}`);
        await page.getByRole('heading', { name: /^All 56 links are equally fast: 40.GB/ }).waitFor();
        await page.getByRole('button', { name: names.findPlacement }).click();
        await page.getByRole('heading', { name: /^Nothing to gain: all links are alike/ }).waitFor();
    });
});

describe('models with experts', () => {
    pageTest('expert parallel is chosen, said, and can be set', async () => {
        const page = await open('?model=mixtral-8x7b&gpus=32');
        await headlineIs(page, /^It fits/);
        await eventually('the plan', () => plain(page.locator('.plan')), /experts over \d+/);
        await page.goto(`${served.url}?model=mixtral-8x7b&gpus=32&ep=2`);
        await settled(page);
        await eventually('the plan', () => plain(page.locator('.plan')), /experts over 2/);
    });
});

describe('what is shipped', () => {
    pageTest('what comes before the page is loaded stays within its budget, and so does what comes by itself afterwards', async () => {
        const one = await openPage(chromium.browser, served.url);
        opened.push(one);
        const sizes = (names) => names.map((file) => [file || 'index.html', gzipSync(readFileSync(dist + (file || 'index.html')), { level: 9 }).length]);
        const total = (list) => list.reduce((sum, [, size]) => sum + size, 0);
        const told = (what, list, limit) => console.log(`${what}: ${(total(list) / 1024).toFixed(1)} KB of ${limit / 1024} KB, gzip -9: ${list.map(([file, size]) => `${file} ${(size / 1024).toFixed(1)}`).join(', ')}`);
        assert.match(await plain(headline(one.page)), /^It fits\. .*\d+ of 80 GB/);
        await settled(one.page);
        await one.page.waitForLoadState('networkidle');
        // Asked for before the page was loaded, or after.
        const asked = await one.page.evaluate(() => {
            const [page, ...files] = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')];
            return [page, ...files].map(({ name, startTime }) => [name.split('/fourfold/')[1].split('?')[0], startTime <= page.loadEventStart]);
        });
        const names = (wanted) => [...new Set(asked.filter(([, early]) => early === wanted).map(([file]) => file))];
        const first = sizes(names(true)), more = sizes(names(false));
        told('first load', first, FIRST_LOAD_LIMIT);
        assert.ok(!first.some(([file]) => /\.wasm|example|worker/.test(file)), `${first}`);
        assert.ok(total(first) <= FIRST_LOAD_LIMIT);
        told('first load, by itself afterwards', more, MODULE_LIMIT);
        assert.ok(more.some(([file]) => file.endsWith('.wasm')) && more.some(([file]) => /worker/.test(file)), `${more}`);
        assert.ok(total(more) <= MODULE_LIMIT);
    });

    pageTest('the page carries the policy itself, for hosts that send no headers', async () => {
        const page = await open();
        const inPage = await page.locator('meta[http-equiv="Content-Security-Policy"]').getAttribute('content');
        const rules = (policy) => policy.split(';').map((rule) => rule.trim()).filter(Boolean).sort();
        assert.deepEqual(rules(inPage), rules(contentSecurityPolicy));
    });

    pageTest('nothing shipped names another place to load from, or evaluates text', async () => {
        for (const file of readdirSync(dist, { recursive: true }).filter((name) => /\.(js|css|html)$/.test(name))) {
            const text = readFileSync(dist + file, 'utf8');
            assert.doesNotMatch(text, /\beval\(|new Function\(/, file);
            assert.doesNotMatch(text, /(src|href|url)\s*[=(]\s*["']?(https?:)?\/\/(?!arxiv|huggingface|www|resources|developer)/, file);
        }
    });

    pageTest('the golden cases hold in the browser, through the page\'s own worker', async () => {
        const page = await open();
        const worker = page.workers()[0].url();
        const wasm = opened[0].responses.map((response) => response.url()).find((url) => url.endsWith('.wasm'));
        const cases = goldenCases();
        const answers = await page.evaluate(async ({ worker, wasm, cases }) => {
            const thread = new Worker(worker, { type: 'module' });
            thread.postMessage(await WebAssembly.compileStreaming(fetch(wasm)));
            const answers = [];
            for (const [id, { function: call, request: text }] of cases.entries()) {
                const reply = await new Promise((done) => {
                    thread.onmessage = ({ data }) => data.id === id && done(data);
                    thread.postMessage({ id, call, text });
                });
                const value = reply.value;
                if (value === undefined) answers.push({ response: reply });
                else if (call !== 'search') answers.push({ response: typeof value === 'string' ? JSON.parse(value) : value });
                else answers.push({ response: value.summary, columns: Object.fromEntries(Object.entries(value.columns).map(([name, column]) => [name, Array.from(column)])) });
            }
            thread.terminate();
            return answers;
        }, { worker, wasm, cases });
        for (const [i, one] of cases.entries()) {
            const found = differences(one.response, answers[i].response);
            if (one.columns) found.push(...differences(one.columns, answers[i].columns, 'columns'));
            assert.deepEqual(found.slice(0, 5), [], one.name);
        }
    });

    pageTest('a host that serves .wasm under another type still works', async () => {
        const page = await chromium.browser.newPage();
        try {
            await page.route('**/*.wasm', async (route) => {
                const response = await route.fetch();
                await route.fulfill({ response, headers: { ...response.headers(), 'content-type': 'application/octet-stream' } });
            });
            await page.goto(served.url);
            await page.mouse.move(2, 2);
            await page.getByRole('grid', { name: names.grid }).waitFor();
        } finally {
            await page.close();
        }
    });

    pageTest('without the module the example stays, and the page says so', async () => {
        const page = await chromium.browser.newPage();
        try {
            await page.route('**/*.wasm', (route) => route.fulfill({ status: 404, body: '' }));
            await page.goto(served.url);
            await page.mouse.move(2, 2);
            await page.getByRole('alert').waitFor();
            await headlineIs(page, /^It fits/);
        } finally {
            await page.close();
        }
    });
});
