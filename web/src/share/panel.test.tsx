import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { answeredOf } from '../shared/test-data';
import { settle, show, tap, unfold } from '../shared/test-view';
import { SharePanel } from './panel';
import { chatText, embedCode, linkOf, markdown } from './texts';

const { page, answer } = answeredOf();
const HERE = 'https://example.org/fourfold/';

beforeEach(() => void vi.stubGlobal('location', new URL(HERE)));
afterEach(() => {
    vi.unstubAllGlobals();
    vi.restoreAllMocks();
});

function shown() {
    const close = vi.fn();
    const copied = vi.fn(async (_: string) => {});
    vi.spyOn(navigator.clipboard, 'writeText').mockImplementation(copied);
    return { close, copied, ...show(<SharePanel page={page} answer={answer} close={close} />) };
}

test('link, text, Markdown: each is copied as it is', async () => {
    const { copied, find } = shown();
    for (const name of ['Copy the link', 'Copy as text', 'Copy as Markdown']) {
        tap(find('button', name));
        await settle();
    }
    const link = linkOf(page, HERE);
    expect(copied.mock.calls.flat()).toEqual([link, chatText(page, answer, link), markdown(page, answer, link)]);
    expect((find('textbox', 'Link') as HTMLInputElement).value).toBe(link);
});

test('the HTML to embed stands there and is copied', async () => {
    const { box, copied, find } = shown();
    unfold(box, 'Embed this answer');
    const code = embedCode(page, linkOf(page, HERE));
    expect((find('textbox', 'The HTML to embed') as HTMLTextAreaElement).value).toBe(code);
    tap(find('button', 'Copy the HTML'));
    await vi.waitFor(() => expect(copied).toHaveBeenCalledWith(code));
});

test('the drawing is saved as a file; a browser that cannot make pixels of it is told', async () => {
    const { find } = shown();
    const saved: string[] = [];
    vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (this: HTMLAnchorElement) {
        saved.push(this.download);
    });
    tap(find('button', 'Save as a drawing (SVG)'));
    expect(saved).toEqual(['fourfold-llama-3.1-8b-8-h100-sxm-80gb.svg']);
    vi.stubGlobal(
        'Image',
        class {
            decode = () => Promise.reject(new Error('cannot'));
        },
    );
    tap(find('button', 'Save as a picture (PNG)'));
    await vi.waitFor(() => expect(find('alert').textContent).toMatch(/could not be made/));
});

test('closing tells who opened it', () => {
    const { close, find } = shown();
    tap(find('button', 'Close'));
    expect(close).toHaveBeenCalled();
});
