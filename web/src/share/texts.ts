// The answer as a text: its link, a message for a chat, Markdown, and the element that shows it in another page.
import type { Estimate } from '../core/api';
import { summaryOf, timeOf } from '../shared/answer-words';
import { wholePlan } from '../shared/plan-words';
import { formatLink } from '../state/state';
import { DEPTH_PARAMETER, ROOM_PARAMETERS } from '../state/view';
import type { Page } from '../store/page';
import { LANGUAGE_PARAMETER } from '../words/language';
import { sentences } from '../words/words';

// `here` is the page's own address: a language and a depth that came with it stay in the link, and so do the phases and the further GPUs of
// the run, letter by letter.
const KEPT = [LANGUAGE_PARAMETER, DEPTH_PARAMETER, ...ROOM_PARAMETERS];
export function linkOf(page: Page, here: string): string {
    const link = new URL(formatLink(page.job, page.catalog, page.pins), here).href;
    const parts = new URL(here).search.slice(1).split('&');
    return [link, ...KEPT.flatMap((name) => parts.find((part) => part.startsWith(`${name}=`)) ?? [])].join('&');
}

export const chatText = (page: Page, answer: Estimate, link: string): string => `${sentences(summaryOf(page), timeOf(answer))}\n${link}`;

const escapeMarkdown = (text: string): string => text.replace(/[\\`*_[\]<>|]/g, '\\$&');

export function markdown(page: Page, answer: Estimate, link: string): string {
    const lines = [timeOf(answer), wholePlan(page.catalog, answer.job, answer.data_parallel)].map((line) => `- ${escapeMarkdown(line)}`);
    return `**[${escapeMarkdown(summaryOf(page))}](${link})**\n\n${lines.join('\n')}\n`;
}

const escapeHtml = (text: string): string => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/"/g, '&quot;');

// The link inside is for a page whose reader has no JavaScript.
export function embedCode(page: Page, link: string): string {
    const { searchParams } = new URL(link);
    const attributes = [...searchParams]
        .filter(([name]) => !['pin', DEPTH_PARAMETER, ...ROOM_PARAMETERS].includes(name))
        .map(([name, value]) => `${name}="${escapeHtml(value)}"`);
    return [
        `<script type="module" src="${escapeHtml(new URL('./embed.js', link).href)}"></script>`,
        `<fourfold-answer ${attributes.join(' ')}>`,
        `    <a href="${escapeHtml(link)}">${escapeHtml(summaryOf(page))}</a>`,
        '</fourfold-answer>\n',
    ].join('\n');
}
