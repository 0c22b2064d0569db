// Fills embed.html, the page that other pages show in a frame, and makes the script that puts it there (embed.js).
import type { Plugin } from 'vite';
import { bundle } from './bundle.ts';
import { moduleAsset } from './core.ts';
import { withIcon } from './icon.ts';
import { policyTag } from './policy.ts';
import { ownWords } from './words.ts';

export function fillEmbed(): Plugin[] {
    const module = moduleAsset();
    const fill: Plugin = {
        name: 'fill-embed',
        transformIndexHtml: {
            order: 'pre',
            handler(html) {
                const words = ownWords('en');
                return withIcon(html)
                    .replace('%NAME%', words['page.name'] ?? '')
                    .replace('%DESCRIPTION%', words['page.description'] ?? '')
                    .replace('%WORKING%', words['boot.working'] ?? '');
            },
        },
        async generateBundle() {
            this.emitFile({ type: 'asset', ...module });
            // Its name never changes: it stands in the pages of others.
            this.emitFile({ type: 'asset', fileName: 'embed.js', source: await bundle('src/embed/element.ts', 'es') });
        },
    };
    const order: Plugin = {
        name: 'embed-head',
        transformIndexHtml: {
            order: 'post',
            handler: (html) =>
                html
                    .replace('<meta charset', () => `${policyTag()}\n        <meta charset`)
                    .replace(
                        '</title>',
                        // Asked for at once: the script would find its name late.
                        `</title>\n        <link id="module" rel="preload" as="fetch" type="application/wasm" crossorigin href="./${module.fileName}" />`,
                    ),
        },
    };
    return [fill, order];
}
