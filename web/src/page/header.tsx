import { useState } from 'preact/hooks';
import { t } from '../i18n';
import { applyTheme, storedTheme, THEMES, type Theme } from './theme';

export function Header() {
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
                {t.skip}
            </a>
            <a class="mark" href="./">
                <svg viewBox="0 0 18 18" width="18" height="18" aria-hidden="true">
                    <path class="f-weights" d="M0 0h8v8H0z" />
                    <path class="f-optimizer" d="M10 0h8v8h-8z" />
                    <path class="f-activations" d="M0 10h8v8H0z" />
                    <path class="f-temporaries" d="M10 10h8v8h-8z" />
                </svg>
                {t.name}
            </a>
            <nav aria-label={t.nav.label}>
                <a href="#check">{t.nav.check}</a>
                <a href="#best">{t.nav.best}</a>
                <a href="#gpus">{t.nav.gpus}</a>
                <a href="#placement">{t.nav.placement}</a>
                <a href="#plans">{t.nav.plans}</a>
                <a href="#compare">{t.nav.compare}</a>
                <a href="#how">{t.nav.how}</a>
            </nav>
            <button type="button" class="quiet theme" aria-label={t.theme.change(t.theme[theme])} onClick={change}>
                <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
                    <circle cx="8" cy="8" r="6.5" fill="none" stroke="currentColor" stroke-width="1.5" />
                    <path d="M8 1.5a6.5 6.5 0 0 1 0 13z" fill="currentColor" />
                </svg>
                {t.theme[theme]}
            </button>
        </header>
    );
}
