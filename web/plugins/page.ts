// Fills index.html when the page is built: texts, the finished example, the boot script, the policy.
import { readFileSync } from 'node:fs';
import { type Alias, type Plugin, runnerImport } from 'vite';
import { bundle } from './bundle.ts';
import { asset, loadCore, moduleAsset, root, wasm } from './core.ts';
import { withIcon } from './icon.ts';
import { coreVersion } from './package.ts';
import { ASKS_HUB, EARLY, escapeText, LOADS_EARLY, policyTag } from './policy.ts';
import { previewTags } from './preview.ts';
import { wordsPlugin } from './words.ts';

// Where the sources are kept: package.json says it, or the workflow that builds the page (GitHub sets both variables); '' = nowhere.
function repository(): string {
    const { repository: said } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { repository?: string };
    const { GITHUB_SERVER_URL: server = 'https://github.com', GITHUB_REPOSITORY: name } = process.env;
    return said ?? (name ? `${server}/${name}` : '');
}

async function prerendered(alias: Alias[]) {
    const { module } = await runnerImport<typeof import('../src/prerender')>(`${root}src/prerender.tsx`, {
        configFile: false,
        root,
        plugins: [wordsPlugin({ eager: true })],
    });
    const { texts, boot, example } = await module.prerender(await loadCore());
    return {
        texts: { ...texts, REPOSITORY: repository(), VERSION: coreVersion() } as Record<string, string>,
        // A classic script, which a page's own bundle cannot hold.
        boot: asset('boot', 'js', await bundle('src/boot/boot.ts', 'iife', { BOOT_DATA: JSON.stringify(boot) }, alias)),
        example: asset('example', 'json', JSON.stringify(example)),
        module: moduleAsset(),
    };
}
type Built = Awaited<ReturnType<typeof prerendered>>;

const bootTag = (file: string, module: string, example: string): string =>
    `<script src="${file}" data-module="${module}" data-example="${example}"></script>`;

// In the built page the policy comes first, and the boot script stands before the styles, for which a script would wait. The parser
// stops at a script: whatever is named before it comes at the same time.
function orderHead(html: string, boot: string, module: string): string {
    const preloads = [...html.matchAll(/<link rel="stylesheet"([^>]*)>/g)].map(([, more]) => `<link rel="preload" as="style"${more}>`);
    return html
        .replace('<meta charset', () => `${policyTag({ ...ASKS_HUB, ...LOADS_EARLY })}\n        <meta charset`)
        .replace('<title>', () => `<script data-module="${module}">${EARLY}</script>\n        <title>`)
        .replace('<link rel="stylesheet"', (tag) => [...preloads, boot, tag].join('\n      '));
}

// Fills index.html: texts and the finished example always, the policy in the built page only (the development server injects styles).
// `alias`: what takes the place of what in the boot script.
export function fillPage(alias: Alias[] = []): Plugin[] {
    let built: Promise<Built> | undefined;
    const once = (): Promise<Built> => {
        built ??= prerendered(alias);
        return built;
    };
    const fill: Plugin = {
        name: 'fill-page',
        configureServer(server) {
            server.middlewares.use(async ({ url }, response, next) => {
                if (url !== '/boot.js' && url !== '/example.json') return next();
                const { boot, example } = await once();
                response.setHeader('Content-Type', url === '/boot.js' ? 'text/javascript' : 'application/json');
                response.end((url === '/boot.js' ? boot : example).source);
            });
        },
        transformIndexHtml: {
            order: 'pre',
            async handler(html, { server }) {
                if (server) built = undefined;
                const { texts } = await once();
                const filled = withIcon(html).replace(/%([A-Z]+)%/g, (_, key: string) =>
                    key === 'APP' ? (texts.APP ?? '') : key === 'PREVIEW' ? previewTags(texts.TITLE ?? '') : escapeText(texts[key] ?? ''),
                );
                return server ? filled.replace('</title>', `</title>${bootTag('/boot.js', `/@fs${wasm}`, '/example.json')}`) : filled;
            },
        },
        async generateBundle() {
            const { boot, example, module } = await once();
            for (const one of [boot, example, module]) this.emitFile({ type: 'asset', ...one });
        },
    };
    const order: Plugin = {
        name: 'order-head',
        transformIndexHtml: {
            order: 'post',
            async handler(html, { server }) {
                if (server) return html;
                const { boot, example, module } = await once();
                const at = `./${module.fileName}`;
                return orderHead(html, bootTag(`./${boot.fileName}`, at, `./${example.fileName}`), at);
            },
        },
    };
    return [fill, order];
}
