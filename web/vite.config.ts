import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type Plugin, runnerImport } from 'vite';
import { defineConfig } from 'vitest/config';
import { wordsPlugin } from './plugins/words.ts';
import type { BootData } from './src/boot/types';
import type { Fourfold } from './src/core/api';

// Where CMake puts the module: cmake --workflow --preset wasm
const coreFolder = fileURLToPath(new URL('../build/wasm/wasm/', import.meta.url));
const glue = `${coreFolder}fourfold.mjs`;
const wasm = `${coreFolder}fourfold.wasm`;
// What measured runs say: read by the page as README reads it.
const evidenceFolder = fileURLToPath(new URL('../tests/evidence/', import.meta.url));

// Where the sources are kept: package.json says it, or the workflow that builds the page (GitHub sets both variables); '' = nowhere.
function repository(): string {
    const { repository: said } = JSON.parse(readFileSync(new URL('./package.json', import.meta.url), 'utf8')) as { repository?: string };
    const { GITHUB_SERVER_URL: server = 'https://github.com', GITHUB_REPOSITORY: name } = process.env;
    return said ?? (name ? `${server}/${name}` : '');
}

const contentSecurityPolicy = [
    "default-src 'none'",
    "script-src 'self' 'wasm-unsafe-eval'",
    "worker-src 'self'",
    "connect-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
].join('; ');

async function loadCore(): Promise<Fourfold> {
    const { default: create } = await import(pathToFileURL(glue).href);
    const module = new WebAssembly.Module(readFileSync(wasm));
    return create({
        instantiateWasm(imports: WebAssembly.Imports, done: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void) {
            const instance = new WebAssembly.Instance(module, imports);
            done(instance, module);
            return instance.exports;
        },
    });
}

// The glue names its .wasm file beside it; the page hands the compiled module over instead, so that name must not pull the file in again.
const bareGlue: Plugin = {
    name: 'bare-glue',
    transform(code, id) {
        if (id !== glue) return null;
        return code.replace(/new URL\("fourfold\.wasm",\s*import\.meta\.url\)(\.toString\(\)|\.href)/, '""');
    },
};

const root = fileURLToPath(new URL('.', import.meta.url));

// The boot script is a classic script, which a page's own bundle cannot hold: it is bundled by itself.
async function bundleBoot(data: BootData): Promise<string> {
    const bundled = await build({
        configFile: false,
        root,
        logLevel: 'warn',
        publicDir: false,
        define: { BOOT_DATA: JSON.stringify(data) },
        build: { write: false, target: 'es2022', lib: { entry: 'src/boot/boot.ts', formats: ['iife'], name: 'boot' } },
    });
    const [one] = Array.isArray(bundled) ? bundled : [bundled];
    if (!one || !('output' in one)) throw new Error('the boot script has not been bundled');
    return one.output[0].code;
}

interface Asset {
    fileName: string;
    source: string | Uint8Array;
}
const asset = (name: string, end: string, source: Asset['source']): Asset => ({
    fileName: `assets/${name}-${createHash('sha256').update(source).digest('base64url').slice(0, 8)}.${end}`,
    source,
});

async function prerendered() {
    const { module } = await runnerImport<typeof import('./src/prerender')>(`${root}src/prerender.tsx`, {
        configFile: false,
        root,
        plugins: [wordsPlugin({ eager: true })],
    });
    const { texts, boot, example } = await module.prerender(await loadCore());
    return {
        texts: { ...texts, REPOSITORY: repository() } as Record<string, string>,
        boot: asset('boot', 'js', await bundleBoot(boot)),
        example: asset('example', 'json', JSON.stringify(example)),
        module: asset('fourfold', 'wasm', readFileSync(wasm)),
    };
}
type Built = Awaited<ReturnType<typeof prerendered>>;

const bootTag = (file: string, module: string, example: string): string =>
    `<script src="${file}" data-module="${module}" data-example="${example}"></script>`;

// In the built page the policy comes first, and the boot script stands before the styles, for which a script would wait. The parser
// stops at a script: whatever is named before it comes at the same time.
function orderHead(html: string, boot: string): string {
    const policy = `<meta http-equiv="Content-Security-Policy" content="${escapeText(contentSecurityPolicy)}" />`;
    const preloads = [...html.matchAll(/<link rel="stylesheet"([^>]*)>/g)].map(([, more]) => `<link rel="preload" as="style"${more}>`);
    return html
        .replace('<meta charset', () => `${policy}\n        <meta charset`)
        .replace('<link rel="stylesheet"', (tag) => [...preloads, boot, tag].join('\n      '));
}

// Fills index.html: texts and the finished example always, the policy in the built page only (the development server injects styles).
function fillPage(): Plugin[] {
    let built: Promise<Built> | undefined;
    const once = (): Promise<Built> => {
        built ??= prerendered();
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
                const filled = html.replace(/%([A-Z]+)%/g, (_, key: string) =>
                    key === 'APP' ? (texts.APP ?? '') : escapeText(texts[key] ?? ''),
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
                return orderHead(html, bootTag(`./${boot.fileName}`, `./${module.fileName}`, `./${example.fileName}`));
            },
        },
    };
    return [fill, order];
}
const escapeText = (text: string): string => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/"/g, '&quot;');

// What the page loads first comes in one file: two would compress worse.
interface Modules {
    getModuleInfo(id: string): { isEntry: boolean; importers: readonly string[] } | null;
}
function firstLoad(id: string, modules: Modules): string | null {
    const seen = new Set<string>();
    const reached = (one: string): boolean => {
        if (seen.has(one)) return false;
        seen.add(one);
        const info = modules.getModuleInfo(one);
        return info !== null && (info.isEntry || info.importers.some(reached));
    };
    return reached(id) ? 'index' : null;
}

export default defineConfig(({ mode }) => ({
    base: './',
    plugins: [bareGlue, wordsPlugin({ strict: mode === 'test' }), ...fillPage()],
    resolve: {
        alias: [{ find: /^fourfold-core$/, replacement: glue }],
    },
    server: { fs: { allow: ['.', coreFolder, evidenceFolder] } },
    worker: { format: 'es', plugins: () => [bareGlue] },
    test: {
        projects: [
            { extends: true, test: { name: 'plain', include: ['src/**/*.test.ts'], setupFiles: ['src/words/setup.ts'] } },
            {
                extends: true,
                test: {
                    name: 'views',
                    include: ['src/**/*.test.tsx'],
                    environment: 'happy-dom',
                    isolate: false,
                    setupFiles: ['src/words/setup.ts', 'src/shared/test-setup.ts'],
                },
            },
        ],
    },
    build: {
        target: 'es2022',
        assetsInlineLimit: 0,
        modulePreload: { polyfill: false },
        rolldownOptions: { output: { codeSplitting: { groups: [{ name: firstLoad, debugName: 'first load' }] } } },
    },
}));
