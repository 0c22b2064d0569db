// How many estimates a second the shipped module makes, through JSON as the page does and bare, and beside the native code:
//   cmake --workflow --preset wasm && cmake --workflow --preset release && node tests/web/bench.mjs
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { loadModule, root } from './module.mjs';

const core = await loadModule();
const job = JSON.stringify({ version: 1, model: 'llama-3.1-8b', gpus: 64, tensor_parallel: 4, pipeline_parallel: 4, context_parallel: 1, micro_batch: 1 });

// Best of several rounds: other work on the machine can only slow a round down.
function bestRate(count, work) {
    let best = 0;
    for (let round = 0; round < 5; ++round) {
        const start = performance.now();
        work(count);
        best = Math.max(best, count / ((performance.now() - start) / 1000));
    }
    return best;
}
const print = (label, rate) => console.log(`${label.padEnd(42)} ${Math.round(rate).toLocaleString('en').padStart(14)} a second`);

print('estimate, JSON in and out', bestRate(2000, (count) => {
    for (let i = 0; i < count; ++i) JSON.parse(core.estimate(job));
}));
const bare = bestRate(200000, (count) => core.benchmark_estimates(count));
print('bare estimate, WebAssembly', bare);

const native = fileURLToPath(new URL('build/release/tests/fourfold_bench', root));
if (existsSync(native)) {
    const report = JSON.parse(execFileSync(native, ['--benchmark_format=json', '--benchmark_filter=Estimate'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
    const [{ name, real_time: time, time_unit: unit }] = report.benchmarks;
    const rate = { ns: 1e9, us: 1e6, ms: 1e3 }[unit] / time;
    print(`bare estimate, native (${name})`, rate);
    console.log(`WebAssembly runs at ${(100 * bare / rate).toFixed(0)} % of native speed`);
} else {
    console.log('No native figure: build/release/tests/fourfold_bench is not built.');
}
