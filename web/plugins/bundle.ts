// A script of its own beside the page's bundle: one file with all that it imports.
import { type Alias, build } from 'vite';
import { root } from './core.ts';

export async function bundle(
    entry: string,
    format: 'es' | 'iife',
    define: Record<string, string> = {},
    alias: Alias[] = [],
): Promise<string> {
    const bundled = await build({
        configFile: false,
        root,
        logLevel: 'warn',
        publicDir: false,
        define,
        resolve: { alias },
        build: { write: false, target: 'es2022', lib: { entry, formats: [format], name: 'script' } },
    });
    const [one] = Array.isArray(bundled) ? bundled : [bundled];
    if (!one || !('output' in one)) throw new Error(`${entry} has not been bundled`);
    return one.output[0].code;
}
