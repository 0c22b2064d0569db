// Runs before the first paint, as a classic script in a file of its own: it is too long for an inline one, which the strict Content-Security-Policy would have to name. The
// reader's colours; the sentence of a link; the module on its way; and everything that is done before the app is there, kept for it.
import { storedTheme } from '../page/theme';
import { openingDepth } from '../state/depth';
import { namesRun } from '../state/view';
import { readersLanguage } from '../words/language';
import { endLink, showLink } from './link';
import { compileModule, fetchExample, whenWanted } from './load';
import { record } from './record';
import './types';

function sayFailed(text: string): void {
    const notice = document.createElement('p');
    notice.className = 'failed';
    notice.setAttribute('role', 'alert');
    notice.textContent = text;
    document.getElementById('check')?.prepend(notice);
}

const { dataset } = document.currentScript as HTMLScriptElement;
const at = (file = ''): string => new URL(file, document.baseURI).href;
const [moduleUrl, exampleUrl] = [at(dataset.module), at(dataset.example)];
const language = readersLanguage();
const data = BOOT_DATA; // its place is taken by the data themselves, once
const words = data.words[language];
// A frame gets the small page instead. Until it is there nothing is fetched for this one: what is broken off by leaving is an error in the
// console of browsers where a service worker answers it.
const leaves = new URLSearchParams(location.search).has('embed');
if (leaves) location.replace(at(`embed.html${location.search}`));
const hasLink = namesRun();

const theme = storedTheme();
if (theme !== 'auto') document.documentElement.dataset.theme = theme;
document.documentElement.dataset.depth = openingDepth(location);
document.documentElement.dataset.filling = ''; // until the later sections have their content: they keep its room free
const kept = record(words.taken);
if (hasLink) showLink(data, language);

const once = <Value>(make: () => Promise<Value>): (() => Promise<Value>) => {
    let made: Promise<Value> | undefined;
    return () => {
        made ??= make();
        return made;
    };
};
const module = once(() => compileModule(moduleUrl));
const example = once(() => (hasLink ? Promise.resolve(null) : fetchExample(exampleUrl)));
const wanted = leaves ? new Promise<void>(() => {}) : whenWanted(hasLink || language !== 'en');
wanted.then(() => Promise.all([example(), module()])).catch(() => {}); // whoever needs them meets the failure

window.boot = {
    language,
    wanted,
    module,
    example,
    ready(draw) {
        endLink();
        draw();
        kept.replay();
    },
    failed() {
        document.querySelector('.working')?.remove();
        delete document.documentElement.dataset.filling;
        // The example's answer is not that of what a reader typed.
        if (kept.changed()) document.documentElement.dataset.pending = 'sentence';
        kept.giveUp();
        sayFailed(words.failed);
    },
};
