import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { bareGlue, coreFolder } from './plugins/core.ts';
import { offline } from './plugins/offline.ts';
import { fillPage } from './plugins/page.ts';
import { shared } from './plugins/shared.ts';
import { wordsPlugin } from './plugins/words.ts';

// What measured runs say: read by the page as README reads it.
const evidenceFolder = fileURLToPath(new URL('../tests/evidence/', import.meta.url));

export default defineConfig(({ mode }) => ({
    ...shared,
    plugins: [bareGlue, wordsPlugin({ strict: mode === 'test', without: mode === 'test' ? [] : ['cli'] }), ...fillPage(), offline()],
    server: { fs: { allow: ['.', coreFolder, evidenceFolder] } },
    test: {
        // a busy machine is slow, and no fault of a test
        testTimeout: 300_000,
        expect: { poll: { timeout: 120_000 } },
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
}));
