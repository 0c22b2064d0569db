// What a preview of a link shows, and where the page will be: FOURFOLD_SITE, which the workflow knows; without it no address is named.
import { escapeText } from './policy.ts';

export const site = (): string | null => process.env.FOURFOLD_SITE?.replace(/\/*$/, '/') ?? null;

// Pictures need a whole address. The whole page names none for itself: a preview would lead there instead of to the link's own run.
export function previewTags(alternative: string): string {
    const at = site();
    if (at === null) return '<meta name="twitter:card" content="summary" />';
    const picture = `${at}preview.png`;
    return [
        `<meta property="og:image" content="${escapeText(picture)}" />`,
        '<meta property="og:image:width" content="1200" />',
        '<meta property="og:image:height" content="630" />',
        `<meta property="og:image:alt" content="${escapeText(alternative)}" />`,
        '<meta name="twitter:card" content="summary_large_image" />',
    ].join('\n        ');
}
