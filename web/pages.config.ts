// A page for each model and GPU of the catalogue, beside the built page: npm --prefix web run pages, some minutes.
import { defineConfig } from 'vite';
import { cataloguePages, STYLES } from './plugins/pages.ts';

export default defineConfig({
    base: './',
    plugins: [cataloguePages()],
    build: {
        target: 'es2022',
        emptyOutDir: false,
        copyPublicDir: false,
        reportCompressedSize: false,
        rolldownOptions: { input: 'src/catalogue/catalogue.css', output: { assetFileNames: STYLES } },
    },
    logLevel: 'warn',
});
