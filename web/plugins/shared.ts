// What the pages that are built have in common (vite.config.ts and its siblings).
import type { UserConfig } from 'vite';
import { bareGlue, formatsGlue, formatsWasm, glue, moreWasm } from './core.ts';

// What every file of words imports: small enough to come with what is loaded first, not after it and one by one.
const WITH_FIRST = /\/src\/words\/runtime\.ts$|\/src\/format\/in-words\.ts$|\/make-plural\/cardinals/;

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
    return WITH_FIRST.test(id) || reached(id) ? 'index' : null;
}

export const shared = {
    base: './',
    resolve: {
        alias: [
            { find: /^fourfold-core$/, replacement: glue },
            { find: /^fourfold-formats$/, replacement: formatsGlue },
            { find: /^fourfold-more\.wasm/, replacement: moreWasm },
            { find: /^fourfold-formats\.wasm/, replacement: formatsWasm },
        ],
    },
    worker: { format: 'es', plugins: () => [bareGlue] },
    build: {
        target: 'es2022',
        assetsInlineLimit: 0,
        // Of a part that comes later the styles alone are named where it is asked for: the scripts that it imports, it asks for itself.
        modulePreload: { polyfill: false, resolveDependencies: () => [] },
        license: { fileName: 'licenses.md' },
        rolldownOptions: { output: { codeSplitting: { groups: [{ name: firstLoad, debugName: 'first load' }] } } },
    },
} satisfies UserConfig;
