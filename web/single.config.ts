// The page as one file that opens from a disk: npm --prefix web run single writes build/single/fourfold.html.
import { defineConfig } from 'vite';
import { bareGlue, root } from './plugins/core.ts';
import { fillPage } from './plugins/page.ts';
import { shared } from './plugins/shared.ts';
import { codeInside, oneFile } from './plugins/single.ts';
import { wordsPlugin } from './plugins/words.ts';

const alias = [
    { find: /^\.\/load$/, replacement: `${root}src/single/load.ts` },
    { find: /^\.\/hub-allowed$/, replacement: `${root}src/single/hub-allowed.ts` },
    { find: /^.*\/core\/thread$/, replacement: `${root}src/single/thread.ts` },
    { find: /^.*\/reader-thread$/, replacement: `${root}src/single/reader-thread.ts` },
];

export default defineConfig({
    ...shared,
    plugins: [bareGlue, wordsPlugin({ without: ['cli'] }), ...fillPage(alias), codeInside, oneFile('fourfold.html')],
    resolve: { alias: [...shared.resolve.alias, ...alias] },
    worker: { format: 'iife', plugins: () => [bareGlue] }, // a page from a file takes no worker that is a module
    build: {
        ...shared.build,
        license: false, // one file; the page's own build has them
        outDir: '../build/single',
        emptyOutDir: true,
        copyPublicDir: false,
        cssCodeSplit: false,
        reportCompressedSize: false,
        rolldownOptions: { output: { codeSplitting: false } },
    },
});
