// The package "fourfold" for Node and bundlers, with the command line: npm --prefix web run package writes build/package/.
import { defineConfig } from 'vite';
import { coreVersion, npmPackage } from './plugins/package.ts';
import { wordsPlugin } from './plugins/words.ts';

const WORDS = /virtual:words\/(\w+)$/;

export default defineConfig({
    // The glue is a file of the package, as it is.
    resolve: {
        alias: [
            { find: /^fourfold-core$/, replacement: '#core' },
            { find: /^fourfold-formats$/, replacement: '#formats' },
        ],
    },
    plugins: [wordsPlugin({ whole: true }), npmPackage()],
    define: { PACKAGE_VERSION: JSON.stringify(coreVersion()) },
    ssr: { noExternal: true },
    build: {
        ssr: true,
        target: 'es2022',
        outDir: '../build/package',
        emptyOutDir: true,
        copyPublicDir: false,
        reportCompressedSize: false,
        license: { fileName: 'licenses.md' },
        rolldownOptions: {
            external: [/^#/, /^node:/],
            input: {
                index: 'src/package/index.ts',
                cli: 'src/cli/main.ts',
                'code-node': 'src/package/code-node.ts',
                'code-web': 'src/package/code-web.ts',
            },
            output: {
                entryFileNames: '[name].js',
                chunkFileNames: ({ moduleIds }) => {
                    const language = moduleIds.map((id) => WORDS.exec(id)?.[1]).find(Boolean);
                    return language ? `lib/words-${language}.js` : 'lib/[name].js';
                },
            },
        },
    },
    logLevel: 'warn',
});
