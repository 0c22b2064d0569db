// <fourfold-answer model="llama-3.1-70b" gpu="h100-sxm-80gb" gpus="64"> in a page of somebody else: the answer in a frame of its own, as
// tall as what is in it and as light or dark as what is around it. Attributes are the keys of a job, or their names in a link.
import { themeAround } from './around';

const PAGE = new URL('./', import.meta.url);
const OF_ELEMENTS = /^(class|id|style|title|dir|hidden|slot|tabindex|role|part|is|aria-.*|data-.*|on.*)$/;
const THEME = 'theme';
const DARK = matchMedia('(prefers-color-scheme: dark)');
const FIRST_HEIGHT = 320;
const TALLEST = 5000;

interface Told {
    fourfold?: { height?: unknown; title?: unknown };
}

class FourfoldAnswer extends HTMLElement {
    private readonly shadow = this.attachShadow({ mode: 'open' });
    private frame: HTMLIFrameElement | undefined;
    private asked = ''; // what the frame shows
    private readonly own = new MutationObserver(() => this.show());
    private readonly around = new MutationObserver(() => this.colour());

    connectedCallback(): void {
        addEventListener('message', this.listen);
        this.own.observe(this, { attributes: true });
        for (const element of [document.documentElement, document.body]) this.around.observe(element, { attributes: true });
        DARK.addEventListener('change', this.colour);
        this.show();
    }
    disconnectedCallback(): void {
        removeEventListener('message', this.listen);
        DARK.removeEventListener('change', this.colour);
        this.own.disconnect();
        this.around.disconnect();
    }

    private address(): URL {
        const url = new URL('embed.html', PAGE);
        for (const { name, value } of this.attributes) if (!OF_ELEMENTS.test(name)) url.searchParams.append(name, value);
        return url;
    }

    // A frame that is sent elsewhere would add to the page's history: another one takes its place.
    private show(): void {
        const url = this.address();
        if (this.asked === url.href) return;
        this.asked = url.href;
        if (!this.hasAttribute(THEME)) url.searchParams.append(THEME, themeAround(this));
        const frame = document.createElement('iframe');
        frame.loading = 'lazy';
        frame.title = this.title || this.frame?.title || document.title;
        Object.assign(frame.style, { display: 'block', width: '100%', border: '0' });
        frame.style.height = this.frame?.style.height || `${FIRST_HEIGHT}px`;
        frame.src = url.href;
        this.frame = frame;
        this.shadow.replaceChildren(frame);
    }

    private readonly colour = (): void => {
        if (!this.hasAttribute(THEME)) this.frame?.contentWindow?.postMessage({ fourfold: { theme: themeAround(this) } }, PAGE.origin);
    };

    private readonly listen = ({ source, origin, data }: MessageEvent<Told | null>): void => {
        const { frame } = this;
        if (!frame || source !== frame.contentWindow || origin !== PAGE.origin) return;
        const { height, title } = data?.fourfold ?? {};
        if (typeof height === 'number' && height > 0 && height <= TALLEST) frame.style.height = `${Math.ceil(height)}px`;
        if (typeof title === 'string' && !this.title) frame.title = title;
    };
}

if (!customElements.get('fourfold-answer')) customElements.define('fourfold-answer', FourfoldAnswer);
