// What a frame is asked for: a link of the page, in which fields may also stand by their keys, and how it is to look.
import type { Catalog } from '../core/api';

const EMBED = 'embed';
const THEME = 'theme';

// The same as the page writes it.
export function linkIn(query: string, catalog: Catalog): string {
    const names = new Map(catalog.fields.map(({ key, link }) => [key as string, link]));
    const link = new URLSearchParams();
    for (const [name, value] of new URLSearchParams(query)) {
        if (name !== EMBED && name !== THEME) link.append(names.get(name) ?? name, value);
    }
    return link.toString();
}

export type Theme = 'light' | 'dark';
export const asTheme = (theme: unknown): Theme | null => (theme === 'light' || theme === 'dark' ? theme : null);
export const themeIn = (query: string): Theme | null => asTheme(new URLSearchParams(query).get(THEME));
