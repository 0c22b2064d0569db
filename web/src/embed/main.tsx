// The page in a frame: one run worked out, and the height that it takes told to the page around it. It never touches the history.
import './embed.css';
import { render } from 'preact';
import { withKnownModel } from '../answer/known-model';
import { compileModule } from '../boot/load';
import { Core } from '../core/client';
import { createThread, secondCode } from '../core/thread';
import { titleOf } from '../shared/answer-words';
import { speakTo } from '../shared/speak-to';
import { figures, formatLink, parseLink } from '../state/state';
import { emptyPage } from '../store/page';
import { LANGUAGE_PARAMETER, readersLanguage } from '../words/language';
import { fetchWords, say } from '../words/words';
import { asTheme, linkIn, type Theme, themeIn } from './query';
import { Embedded } from './view';

const root = document.getElementById('embedded') as HTMLElement;
const { href } = document.getElementById('module') as HTMLLinkElement;
const language = readersLanguage();

async function start(): Promise<void> {
    const module = compileModule(href);
    const core = new Core(createThread, () => module, secondCode);
    const speaks = Promise.all([speakTo(language), fetchWords('share')]);
    const [catalog] = await Promise.all([core.catalog(), module]);
    const job = await withKnownModel(parseLink(linkIn(location.search, catalog), catalog).job, catalog);
    const answer = await core.estimate(figures(job));
    await Promise.all([speaks, !answer.ok && fetchWords('wrong')]);
    const page = { ...emptyPage(catalog, job), language, ...(answer.ok ? { answer } : { problems: answer.problems }) };
    const linked = new URLSearchParams(location.search).get(LANGUAGE_PARAMETER);
    const whole = `./${formatLink(job, catalog)}${linked === null ? '' : `&${LANGUAGE_PARAMETER}=${linked}`}`;
    document.documentElement.lang = language;
    document.title = titleOf(page);
    root.textContent = '';
    render(<Embedded page={page} whole={whole} />, root);
    root.removeAttribute('aria-busy');
    core.end();
}

// The height is no secret: whoever shows the frame may know it.
const tell = (): void => parent.postMessage({ fourfold: { height: root.getBoundingClientRect().height, title: document.title } }, '*');

function colour(theme: Theme | null): void {
    if (theme) document.documentElement.dataset.theme = theme;
}
colour(themeIn(location.search));
addEventListener('message', ({ source, data }) => {
    if (source === parent) colour(asTheme(data?.fourfold?.theme));
});
new ResizeObserver(tell).observe(root);
start()
    .catch(async (error: unknown) => {
        await fetchWords('built');
        root.textContent = say('boot.failed');
        root.setAttribute('role', 'alert');
        throw error;
    })
    .finally(tell);
