// The page for frames, beside the whole one: vite build -c embed.config.ts
import { defineConfig } from 'vite';
import { bareGlue } from './plugins/core.ts';
import { fillEmbed } from './plugins/embed.ts';
import { shared } from './plugins/shared.ts';
import { wordsPlugin } from './plugins/words.ts';
import { PARTS } from './src/words/parts.ts';

const SAID = ['built', 'first', 'names', 'share', 'wrong'];

export default defineConfig({
    ...shared,
    plugins: [bareGlue, wordsPlugin({ without: PARTS.filter((part) => !SAID.includes(part)) }), ...fillEmbed()],
    build: {
        ...shared.build,
        license: false, // the page's own stand beside it, and it has no others
        emptyOutDir: false,
        copyPublicDir: false,
        rolldownOptions: { ...shared.build.rolldownOptions, input: 'embed.html' },
    },
});
