import { expect, test } from 'vitest';
import { summaryOf, timeOf } from '../shared/answer-words';
import { answeredOf } from '../shared/test-data';
import { formatLink, parseLink, withConfig } from '../state/state';
import { chatText, embedCode, linkOf, markdown } from './texts';

const { page, answer } = answeredOf('llama-70b-64-h100');
const HERE = 'https://example.org/fourfold/?lang=ja#best';

test('the link is that of the run, not of the place on the page; a language stays', () => {
    const link = linkOf(page, HERE);
    expect(link).toBe(`https://example.org/fourfold/${formatLink(page.job, page.catalog)}&lang=ja`);
    expect(parseLink(new URL(link).search, page.catalog).job).toEqual(page.job);
    expect(linkOf(page, 'https://example.org/fourfold/')).not.toContain('lang');
    const rooms = 'phases=1e12_8192_a%20%26%20b_8;keep_degrees=true&pools=b200-sxm-180gb_8';
    const phased = linkOf(page, HERE.replace('#', `&${rooms}&depth=detail#`));
    expect(phased).toBe(`${link}&depth=detail&${rooms}`);
    expect(chatText(page, answer, phased)).toContain(rooms);
    expect(markdown(page, answer, phased)).toContain(rooms);
    expect(embedCode(page, phased).split('>')[2]).toBe(embedCode(page, link).split('>')[2]); // the element has no such rooms
});

test('layers that the chunks share unequally belong to the plan', () => {
    const job = { ...answer.job, layout: 'Et*8|(t*10|)*3(t*11|)*3t*9L' };
    expect(markdown(page, { ...answer, job }, HERE)).toContain('layers 8 \\| 3 × 10 \\| 3 × 11 \\| 9');
});

test('a message for a chat: the answer, the time, the link', () => {
    expect(chatText(page, answer, HERE)).toBe(`${summaryOf(page)} ${timeOf(answer)}\n${HERE}`);
});

test('Markdown: a link over the answer, then time and plan; signs of a name stay signs', () => {
    const text = markdown(page, answer, HERE);
    expect(text.split('\n')[0]).toBe(`**[${summaryOf(page)}](${HERE})**`);
    expect(text).toMatch(/^- One step takes .*\n- tensor 8 · pipeline 4/m);
    const named = { ...answer, model: { ...answer.model, label: 'my_*model* [1]' } };
    expect(markdown({ ...page, answer: named }, named, HERE)).toContain('my\\_\\*model\\* \\[1\\] on');
});

test('the element holds the link’s own parts, and a link for who has no JavaScript', () => {
    const link = linkOf(page, 'https://example.org/fourfold/');
    const code = embedCode(page, link);
    expect(code).toContain('<script type="module" src="https://example.org/fourfold/embed.js"></script>');
    expect(code).toMatch(/<fourfold-answer v="2" model="llama-3.1-70b" gpu="h100-sxm-80gb" [^>]*gpus="64"[^>]*>/);
    const box = new DOMParser().parseFromString(code, 'text/html');
    const element = box.querySelector('fourfold-answer');
    const back = new URLSearchParams([...(element?.attributes ?? [])].map(({ name, value }) => [name, value]));
    expect(parseLink(back.toString(), page.catalog).job).toEqual(page.job);
    expect(element?.querySelector('a')?.getAttribute('href')).toBe(link);
});

test('a pasted model with quotes in its name is still HTML', () => {
    const job = withConfig(page.job, { _name_or_path: 'a "b" <c>', hidden_size: 64 });
    const code = embedCode(page, linkOf({ ...page, job }, 'https://example.org/'));
    expect(code).toContain('model._name_or_path="a &quot;b&quot; &lt;c>"');
});
