// The program of the package: npx fourfold.
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { core } from '../package/core';
import { run } from './run';

declare const PACKAGE_VERSION: string; // plugins/package.ts puts it in

const { env, stdin, stdout, stderr } = process;
const typed = process.argv.slice(2);

// A reader that has seen enough, as head does, closes the pipe.
stdout.on('error', ({ code }: NodeJS.ErrnoException) => process.exit(code === 'EPIPE' ? 0 : 2));

const piped = typed.some((one) => one === '-' || one.endsWith('=-')) ? await text(stdin) : '';

process.exitCode = await run(
    typed,
    {
        out: (said) => stdout.write(said),
        err: (said) => stderr.write(said),
        read: (name) => (name === '-' ? piped : readFileSync(name, 'utf8')),
        colours: stdout.isTTY === true && !env.NO_COLOR,
        live: stderr.isTTY === true,
        language: env.LC_ALL || env.LC_MESSAGES || env.LANG || '',
        version: PACKAGE_VERSION,
    },
    await core(),
);
