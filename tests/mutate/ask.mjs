// What the tests say of a mutant: first the quick ones, then, if it lives, the slow ones. Which are slow is measured, without a mutant.
import { spawn } from 'node:child_process';
import { binary } from './tree.mjs';

// Of the target fourfold_by_hand: not what rests on measured runs.
const MEASURED = ['measured:*', 'published:*', 'the residuals are*', 'of the plans called*', '*own run*'];
const SLOW = 0.25; // seconds of one test case

// Killed, not asked: doctest catches the signal that asks, and may wait in its handler for ever.
function start(args, mutant, timeout) {
    const env = { ...process.env, ...(mutant === undefined ? {} : { FOURFOLD_MUTANT: String(mutant) }) };
    const child = spawn('nice', [binary, ...args], { env, timeout, killSignal: 'SIGKILL', stdio: ['ignore', 'pipe', 'ignore'] });
    return new Promise((resolve, reject) => {
        let output = '';
        child.stdout.setEncoding('utf8').on('data', (text) => (output += text));
        child.on('error', reject).on('close', (status) => resolve({ status, output }));
    });
}
const pattern = (name) => name.replace(/[,\\*?]/g, '?'); // ? is any one character: doctest reads these as its own

export class Tests {
    // Runs all of them without a mutant; they must pass.
    static async measured() {
        const { status, output } = await start([`--test-case-exclude=${MEASURED.join(',')}`, '--duration=true'], undefined, 3_600_000);
        if (status !== 0) throw new Error(`The tests fail without any mutant.\n${output.slice(-3000)}`);
        const cases = [...output.matchAll(/^(\d+\.\d+) s: (.*)$/gm)].map(([, seconds, name]) => ({ seconds: Number(seconds), name }));
        return new Tests(cases);
    }
    constructor(cases) {
        this.slow = cases.filter(({ seconds }) => seconds > SLOW);
        this.quick = cases.filter(({ seconds }) => seconds <= SLOW);
        const names = this.slow.map(({ name }) => pattern(name)).join(',');
        // what takes 20 times as long, and half a minute, hangs
        const limit = (some) => Math.round(30_000 + 20_000 * some.reduce((sum, { seconds }) => sum + seconds, 0));
        this.runs = [{ args: [`--test-case-exclude=${[...MEASURED, names].filter(Boolean).join(',')}`], limit: limit(this.quick) }];
        if (names) this.runs.push({ args: [`--test-case=${names}`, `--test-case-exclude=${MEASURED.join(',')}`], limit: limit(this.slow) });
    }
    async pass(mutant) {
        for (const { args, limit } of this.runs)
            if ((await start([...args, '--minimal', '--abort-after=1'], mutant, limit)).status !== 0) return false;
        return true;
    }
}
