// Puts everything that the page was built into in one file, which opens from a disk.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Plugin, Rolldown } from 'vite';
import { formatsWasm, moreWasm } from './core.ts';
import { policyTag } from './policy.ts';

const MODULE = 'fourfold-module';
const EXAMPLE = 'fourfold-example';

// Inside of a script nothing may read as its end.
const inScript = (code: string): string => code.replace(/<(?=\/script|!--)/gi, '\\u003c');
const hashed = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
const textOf = (source: string | Uint8Array): string => (typeof source === 'string' ? source : new TextDecoder().decode(source));

interface Parts {
    html: string;
    boot: string;
    main: string;
    styles: string;
    module: string; // base64
    example: string;
}

function partsIn(files: Rolldown.OutputBundle): Parts {
    const all = Object.values(files);
    const assetOf = (name: RegExp): string | Uint8Array => {
        const found = all.find((one) => one.type === 'asset' && name.test(one.fileName));
        if (found?.type !== 'asset') throw new Error(`the page was built without ${name}`);
        return found.source;
    };
    const chunks = all.filter((one) => one.type === 'chunk');
    const [main] = chunks;
    if (!main || chunks.length > 1) throw new Error(`one script was expected: ${chunks.map(({ fileName }) => fileName)}`);
    return {
        html: textOf(assetOf(/index\.html$/)),
        boot: inScript(textOf(assetOf(/boot-.*\.js$/))),
        main: inScript(main.code),
        styles: textOf(assetOf(/\.css$/)),
        module: Buffer.from(assetOf(/\.wasm$/)).toString('base64'),
        example: inScript(textOf(assetOf(/example-.*\.json$/))),
    };
}

function joined({ html, boot, main, styles, module, example }: Parts): string {
    const policy = policyTag({
        'script-src': `${hashed(boot)} ${hashed(main)} 'wasm-unsafe-eval'`,
        'style-src': hashed(styles),
        'worker-src': 'blob:',
        'connect-src': "'none'",
        'img-src': 'data:',
    });
    const data = `<script type="text/plain" id="${MODULE}">${module}</script>\n<script type="application/json" id="${EXAMPLE}">${example}</script>`;
    const replacements: [RegExp, string][] = [
        [/<meta http-equiv="Content-Security-Policy"[^>]*>/, policy],
        [/\s*<link rel="preload"[^>]*>/g, ''],
        [/\s*<meta (property|name)="(og|twitter):[^>]*>/g, ''],
        [/<script src="[^"]*boot-[^>]*><\/script>/, `<script data-module="#${MODULE}" data-example="#${EXAMPLE}">${boot}</script>`],
        [/<script data-module="\.[^>]*>[^<]*<\/script>\s*/, ''], // nothing is to be fetched early
        [/<script type="module"[^>]*><\/script>/, ''],
        [/<link rel="stylesheet"[^>]*>/, `<style>${styles}</style>`],
        [/<\/body>/, `${data}\n<script type="module">${main}</script>\n</body>`],
    ];
    // Functions: a text that is put in may have a $ in it.
    return replacements.reduce((text, [old, now]) => text.replace(old, () => now), html);
}

// Code that the page on a server fetches when it needs it.
const CODE: Record<string, string> = { 'virtual:second-code': moreWasm, 'virtual:reader-code': formatsWasm };
export const codeInside: Plugin = {
    name: 'code-inside',
    resolveId: (id) => (id in CODE ? `\0${id}` : null),
    load(id) {
        const file = CODE[id.slice(1)];
        return file ? `export default '${readFileSync(file, 'base64')}';` : null;
    },
};

export const oneFile = (name: string): Plugin => ({
    name: 'one-file',
    generateBundle: {
        order: 'post',
        handler(_, files) {
            const source = joined(partsIn(files));
            for (const file of Object.keys(files)) delete files[file];
            this.emitFile({ type: 'asset', fileName: name, source });
        },
    },
});
