import { readFileSync } from 'node:fs';
import { root } from './core.ts';

// The page's sign stands in the page itself: a file of its own, of 225 bytes, would be asked for while a link's module comes, over the same line.
const icon = (): string => `data:image/svg+xml,${encodeURIComponent(readFileSync(`${root}public/favicon.svg`, 'utf8').trim())}`;
export const withIcon = (html: string): string => html.replace(/(?<=<link rel="icon"[^>]*href=")[^"]*/, icon);
