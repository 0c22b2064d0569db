// Browsers as a reader has them, driven by their own protocols: Firefox by WebDriver BiDi, WebKitGTK by WebDriver. What both can do for a test is
// the same: go somewhere, run a function in the page, tap, type, press a key, be of a size.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../module.mjs';

const WebSocket = createRequire(new URL('web/package.json', root))('ws'); // Node has its own only from 22 on

const START_MS = 60_000;
const POLL_MS = 50;

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
async function until(what, read) {
    for (const end = Date.now() + START_MS; Date.now() < end; await sleep(POLL_MS)) {
        const value = await read().catch(() => undefined);
        if (value) return value;
    }
    throw new Error(`${what} did not start within ${START_MS / 1000} s`);
}
const freePort = () =>
    new Promise((done) => {
        const server = createServer().listen(0, '127.0.0.1', () => {
            const { port } = server.address();
            server.close(() => done(port));
        });
    });

// Where the middle of an element is, scrolled into view, once it stands still; thrown when nobody could tap it.
const middle = async (selector) => {
    const place = () => {
        const element = document.querySelector(selector);
        if (!element) throw new Error(`${selector} is not there`);
        dispatchEvent(new WheelEvent('wheel')); // a reader scrolls by hand, after which the page no longer holds a section where a link went
        element.scrollIntoView({ block: 'center', behavior: 'instant' });
        const { left, right, top, bottom } = element.getBoundingClientRect();
        return { element, at: [Math.round((left + right) / 2), Math.round((top + bottom) / 2)] };
    };
    let { element, at } = place();
    for (let before = null; String(before) !== String(at); { element, at } = place()) {
        before = at;
        for (let i = 0; i < 3; i++) await new Promise((done) => requestAnimationFrame(done));
    }
    const over = document.elementFromPoint(...at);
    if (!over || !(element.contains(over) || over.contains(element) || over.closest('label')?.control === element))
        throw new Error(`${selector} is covered by ${over?.outerHTML.slice(0, 80)}`);
    return at;
};
const mouse = (...actions) => ({ type: 'pointer', id: 'mouse', parameters: { pointerType: 'mouse' }, actions });
const moveTo = (x, y) => ({ type: 'pointerMove', x, y });
const keysOf = (text) => ({
    type: 'key',
    id: 'keys',
    actions: [...text].flatMap((value) => [{ type: 'keyDown', value }, { type: 'keyUp', value }]),
});
export const KEYS = { Enter: '\uE007', Escape: '\uE00C', Tab: '\uE004' };

// The same for every browser, from what its protocol can do.
const withTaps = (browser) => ({
    ...browser,
    move: (x, y) => browser.act(mouse(moveTo(x, y))),
    tap: async (selector) =>
        browser.act(mouse(moveTo(...(await browser.run(middle, selector))), { type: 'pointerDown', button: 0 }, { type: 'pointerUp', button: 0 })),
    type: (text) => browser.act(keysOf(text)),
    press: (key) => browser.act(keysOf(KEYS[key])),
});

async function startFirefox() {
    const profile = mkdtempSync(join(tmpdir(), 'fourfold-firefox-'));
    const port = await freePort();
    const firefox = spawn('firefox-esr', ['--headless', '--remote-debugging-port', String(port), '--profile', profile, '--no-remote', 'about:blank'], { stdio: 'ignore' });
    const socket = await until('Firefox', () =>
        new Promise((done, fail) => {
            const one = new WebSocket(`ws://127.0.0.1:${port}/session`, { perMessageDeflate: false });
            one.onopen = () => done(one);
            one.onerror = fail;
        }),
    );
    const waiting = new Map();
    const faults = [];
    let last = 0;
    socket.onmessage = ({ data }) => {
        const said = JSON.parse(data);
        if (said.method === 'log.entryAdded' && said.params.level === 'error') faults.push(said.params.text);
        const asked = waiting.get(said.id);
        waiting.delete(said.id);
        if (said.type === 'error') asked?.fail(new Error(`${said.error}: ${said.message}`));
        else asked?.done(said.result);
    };
    const send = (method, params) =>
        new Promise((done, fail) => {
            waiting.set(++last, { done, fail });
            socket.send(JSON.stringify({ id: last, method, params }));
        });
    await send('session.new', { capabilities: {} });
    await send('session.subscribe', { events: ['log.entryAdded'] });
    const { context } = await send('browsingContext.create', { type: 'tab' });
    return withTaps({
        name: 'Firefox',
        faults,
        goto: (url) => send('browsingContext.navigate', { context, url, wait: 'complete' }),
        size: (width, height) => send('browsingContext.setViewport', { context, viewport: { width, height } }),
        act: (source) => send('input.performActions', { context, actions: [source] }),
        // Values cross as JSON.
        async run(fn, ...args) {
            const code = `async () => JSON.stringify((await (${fn})(...${JSON.stringify(args)})) ?? null)`;
            const answer = await send('script.callFunction', { functionDeclaration: code, awaitPromise: true, target: { context } });
            if (answer.type === 'exception') throw new Error(answer.exceptionDetails.text);
            return JSON.parse(answer.result.value);
        },
        async close() {
            const ended = new Promise((done) => firefox.once('exit', done));
            await send('browser.close', {}).catch(() => firefox.kill());
            await ended;
            rmSync(profile, { recursive: true, force: true });
        },
    });
}

async function startWebKit() {
    const display = `:${90 + Math.floor(Math.random() * 900)}`;
    const screen = spawn('Xvfb', [display, '-screen', '0', '1600x1200x24', '-nolisten', 'tcp'], { stdio: 'ignore' });
    const home = mkdtempSync(join(tmpdir(), 'fourfold-webkit-'));
    const port = await freePort();
    const env = { ...process.env, DISPLAY: display, HOME: home, XDG_RUNTIME_DIR: home, WEBKIT_DISABLE_COMPOSITING_MODE: '1', LIBGL_ALWAYS_SOFTWARE: '1', NO_AT_BRIDGE: '1' };
    const driver = spawn('WebKitWebDriver', [`--port=${port}`, '--host=127.0.0.1'], { stdio: 'ignore', env });
    const ask = async (method, path, body) => {
        const response = await fetch(`http://127.0.0.1:${port}${path}`, { method, ...(body && { body: JSON.stringify(body) }) });
        const { value } = await response.json();
        if (!response.ok) throw new Error(`${value.error}: ${value.message}`);
        return value;
    };
    await until('WebKitWebDriver', () => ask('GET', '/status'));
    const binary = WEBKIT_BROWSERS.find((path) => existsSync(path));
    const { sessionId } = await until('WebKitGTK', () =>
        ask('POST', '/session', { capabilities: { alwaysMatch: { 'webkitgtk:browserOptions': { binary, args: ['--automation'] } } } }),
    );
    const at = (method, path, body) => ask(method, `/session/${sessionId}${path}`, body);
    await at('POST', '/timeouts', { script: 60_000, pageLoad: 60_000 });
    return withTaps({
        name: 'WebKitGTK',
        faults: [], // its protocol does not tell what the console says
        goto: (url) => at('POST', '/url', { url }),
        // The window has borders of its own.
        async size(width, height) {
            await at('POST', '/window/rect', { width, height });
            const [w, h] = await at('POST', '/execute/sync', { script: 'return [innerWidth, innerHeight]', args: [] });
            await at('POST', '/window/rect', { width: 2 * width - w, height: 2 * height - h });
        },
        act: (source) => at('POST', '/actions', { actions: [source] }),
        async run(fn, ...args) {
            const script = `const done = arguments[arguments.length - 1];
                Promise.resolve().then(() => (${fn})(...${JSON.stringify(args)})).then(
                    (value) => done(JSON.stringify({ value: value ?? null })), (error) => done(JSON.stringify({ error: String(error) })));`;
            const answer = JSON.parse(await at('POST', '/execute/async', { script, args: [] }));
            if (answer.error) throw new Error(answer.error);
            return answer.value;
        },
        async close() {
            await at('DELETE', '').catch(() => {});
            for (const one of [driver, screen]) {
                const ended = new Promise((done) => one.once('exit', done));
                one.kill();
                await ended;
            }
            rmSync(home, { recursive: true, force: true });
        },
    });
}

const WEBKIT_BROWSERS = ['4.1', '4.0'].map((version) => `/usr/lib/x86_64-linux-gnu/webkit2gtk-${version}/MiniBrowser`);

export const browsers = [
    { name: 'Firefox', needs: 'firefox-esr', start: startFirefox },
    { name: 'WebKitGTK', needs: 'webkit2gtk-driver xvfb', start: startWebKit },
];
