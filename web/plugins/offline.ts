// Writes sw.js, the service worker, with a list of all files of the build and what is in them.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'vite';
import { bundle } from './bundle.ts';

const NOT_NEEDED = /\.(png|md)$/; // pictures for previews, licences

const filesIn = (folder: string): Record<string, string> =>
    Object.fromEntries(
        readdirSync(folder, { recursive: true, encoding: 'utf8' })
            .filter((name) => statSync(join(folder, name)).isFile() && !NOT_NEEDED.test(name))
            .map((name) => name.replaceAll('\\', '/'))
            .sort()
            .map((name) => [
                name,
                createHash('sha256')
                    .update(readFileSync(join(folder, name)))
                    .digest('base64'),
            ]),
    );

export const offline = (): Plugin => ({
    name: 'offline',
    apply: 'build',
    async writeBundle({ dir }) {
        if (!dir) return;
        const files = `const FILES = ${JSON.stringify(filesIn(dir))};`;
        writeFileSync(join(dir, 'sw.js'), `${files}\n${await bundle('src/offline/worker.ts', 'iife')}`);
    },
});
