// Writes the pages of the catalogue below m/ of a built page, and a sitemap where the address is known.
import { type Plugin, runnerImport } from 'vite';
import type { Rendered } from '../src/catalogue/render';
import { loadCore, root } from './core.ts';
import { escapeText, policyTag } from './policy.ts';
import { previewTags, site } from './preview.ts';
import { wordsPlugin } from './words.ts';

export const STYLES = 'm/catalogue.css';

function documentOf({ path, title, description, body }: Rendered): string {
    const home = '../'.repeat(path.split('/').length - 1);
    const at = site();
    const [named, described] = [escapeText(title), escapeText(description)];
    const address =
        at === null ? [] : [`<link rel="canonical" href="${at}${path}" />`, `<meta property="og:url" content="${at}${path}" />`];
    return [
        '<!doctype html>',
        '<html lang="en">',
        '<head>',
        policyTag(),
        '<meta charset="utf-8" />',
        '<meta name="viewport" content="width=device-width, initial-scale=1" />',
        `<title>${named}</title>`,
        `<meta name="description" content="${described}" />`,
        ...address,
        '<meta property="og:type" content="article" />',
        `<meta property="og:title" content="${named}" />`,
        `<meta property="og:description" content="${described}" />`,
        previewTags(title),
        `<link rel="icon" type="image/svg+xml" href="${home}favicon.svg" />`,
        `<link rel="stylesheet" href="${home}${STYLES}" />`,
        '</head>',
        `<body>${body}</body>`,
        '</html>\n',
    ].join('\n');
}

function sitemap(at: string, paths: readonly string[]): string {
    const entries = paths.map((path) => `<url><loc>${escapeText(at + path)}</loc></url>`);
    return `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${entries.join('\n')}\n</urlset>\n`;
}

const WANTED = process.env.FOURFOLD_PAGES?.split(','); // "model/gpu" of the pages to make; all of them without it

export const cataloguePages = (): Plugin => ({
    name: 'catalogue-pages',
    async generateBundle(_, files) {
        // Nothing was built but the style sheet.
        for (const [name, file] of Object.entries(files)) if (file.type === 'chunk') delete files[name];
        const { module } = await runnerImport<typeof import('../src/catalogue/render')>(`${root}src/catalogue/render.tsx`, {
            configFile: false,
            root,
            plugins: [wordsPlugin({ eager: true })],
        });
        const paths = [''];
        for await (const page of module.pages(await loadCore(), (name) => WANTED?.includes(name) ?? true)) {
            this.emitFile({ type: 'asset', fileName: `${page.path}index.html`, source: documentOf(page) });
            paths.push(page.path);
        }
        const at = site();
        if (at !== null) this.emitFile({ type: 'asset', fileName: 'sitemap.xml', source: sitemap(at, paths) });
    },
});
