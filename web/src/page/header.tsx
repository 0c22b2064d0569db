import { useState } from 'preact/hooks';
import { settled } from '../shared/settled';
import { DEPTHS } from '../state/depth';
import type { Actions, Page } from '../store/page';
import { LANGUAGES, type Language } from '../words/language';
import { say } from '../words/words';
import { applyTheme, storedTheme, THEMES, type Theme } from './theme';

// Every language under its own name: whoever reads it finds it, whatever the page speaks.
function LanguageChoice({ language, act }: { language: Language; act: Actions }) {
    return (
        <select
            id="language"
            class="language"
            aria-label={say('page.language')}
            value={language}
            onChange={({ currentTarget }) => act.speak(currentTarget.value as Language)}
        >
            {Object.entries(LANGUAGES).map(([id, name]) => (
                <option key={id} value={id} lang={id} selected={id === language}>
                    {name}
                </option>
            ))}
        </select>
    );
}

// Who wants one sentence sees one screen; who wants to check it sees all.
function DepthChoice({ depth, act }: { depth: Page['depth']; act: Actions }) {
    return (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset would draw a frame of its own
        <div class="seg" role="group" aria-label={say('depth.label')}>
            {DEPTHS.map((one) => (
                <button key={one} type="button" aria-pressed={one === depth} onClick={() => act.deepen(one)}>
                    {say(`depth.${one}`)}
                </button>
            ))}
        </div>
    );
}

// Of what lies below the answer, seen in every detail alone (first.css): the built page has them, for who opens it so. The answer itself needs no link here: it follows, and each link is one press more on the way to it.
const Sections = () => (
    <nav aria-label={say('nav.label')}>
        <a href="#best">{say('nav.best')}</a>
        <a href="#gpus">{say('nav.gpus')}</a>
        <a href="#cards">{say('nav.cards')}</a>
        <a href="#placement">{say('nav.placement')}</a>
        <a href="#plans">{say('nav.plans')}</a>
        <a href="#compare">{say('nav.compare')}</a>
        <a href="#evidence">{say('nav.evidence')}</a>
        <a href="#how">{say('nav.how')}</a>
    </nav>
);

interface Props {
    language: Language;
    depth: Page['depth'];
    act: Actions;
}

export const Header = settled(({ language, depth, act }: Props) => {
    // The built page does not know the reader's choice; the label follows when the page starts.
    const [theme, setTheme] = useState<Theme>(() => (typeof document === 'undefined' ? 'auto' : storedTheme()));
    const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'auto';
    const change = () => {
        applyTheme(next);
        setTheme(next);
    };
    return (
        <header class="top">
            <a class="skip" href="#answer">
                {say('page.skip')}
            </a>
            <a class="mark" href="./">
                <svg viewBox="0 0 18 18" width="18" height="18" aria-hidden="true">
                    <path class="f-weights" d="M0 0h8v8H0z" />
                    <path class="f-optimizer" d="M10 0h8v8h-8z" />
                    <path class="f-activations" d="M0 10h8v8H0z" />
                    <path class="f-temporaries" d="M10 10h8v8h-8z" />
                </svg>
                {say('page.name')}
            </a>
            <p class="what">{say('page.what')}</p>
            <DepthChoice depth={depth} act={act} />
            <LanguageChoice language={language} act={act} />
            <button type="button" class="quiet theme" aria-label={say('theme.change', { now: say(`theme.${theme}`) })} onClick={change}>
                <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
                    <circle cx="8" cy="8" r="6.5" fill="none" stroke="currentColor" stroke-width="1.5" />
                    <path d="M8 1.5a6.5 6.5 0 0 1 0 13z" fill="currentColor" />
                </svg>
                <span>{say(`theme.${theme}`)}</span>
            </button>
            <Sections />
        </header>
    );
});
