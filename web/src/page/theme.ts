// The reader's choice of colours. boot/boot.ts applies it before the first paint; without a choice the system decides.
export const THEMES = ['auto', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const KEY = 'fourfold-theme';

export function storedTheme(): Theme {
    try {
        return THEMES.find((theme) => theme === localStorage.getItem(KEY)) ?? 'auto';
    } catch {
        return 'auto'; // storage may be forbidden, in an embedded page for one
    }
}

export function applyTheme(theme: Theme): void {
    if (theme === 'auto') document.documentElement.removeAttribute('data-theme');
    else document.documentElement.dataset.theme = theme;
    try {
        localStorage.setItem(KEY, theme);
    } catch {
        // Then the choice holds until the page is closed.
    }
}
