// How many estimates a second the shipped module makes, bare and through JSON as the page asks, and its share of the native speed:
//   cmake --workflow --preset wasm && cmake --workflow --preset release && node tests/web/bench.mjs
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { loadModule, root } from './module.mjs';

const core = await loadModule();

// The best of several rounds, here and natively: other work on the machine can only slow a round down.
const ROUNDS = 7;
function bestRate(count, work) {
    let best = 0;
    for (let round = 0; round < ROUNDS; ++round) {
        const start = performance.now();
        work(count);
        best = Math.max(best, count / ((performance.now() - start) / 1000));
    }
    return best;
}

const LARGE = '{"model": "llama-3.1-405b", "gpus": 16384, "global_batch": 2048}';
const WHOLE = JSON.stringify({ ...JSON.parse(LARGE), explore: 'virtual_stages,schedule,recompute,zero,sequence_parallel,expert_parallel,stage_layers' });
const { legal } = JSON.parse(core.rank(WHOLE));
const plans = core.search(LARGE).columns.row.length;

// The same work as in tests/bench/bench.cpp, under the same names. search_405b counts complete configurations: rules, memory, time.
const rates = {
    search_405b: bestRate(50 * plans, (count) => {
        for (let i = 0; i < count / plans; ++i) core.search(LARGE);
    }),
    rank_405b: bestRate(2 * legal, (count) => {
        for (let i = 0; i < count / legal; ++i) core.rank(WHOLE);
    }),
    raw_estimates: bestRate(10_000_000, (count) => core.benchmark_estimates(count)),
    estimate_as_text: bestRate(1000, (count) => {
        for (let i = 0; i < count; ++i) core.estimate('{}');
    }),
};

const native = {};
const binary = fileURLToPath(new URL('build/release/tests/fourfold_bench', root));
if (existsSync(binary)) {
    const options = ['--benchmark_format=json', `--benchmark_filter=^(${Object.keys(rates).join('|')})$`, `--benchmark_repetitions=${ROUNDS}`];
    const report = JSON.parse(execFileSync(binary, options, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
    const unit = { ns: 1e9, us: 1e6, ms: 1e3 };
    for (const { run_type: type, run_name: name, items_per_second: items, real_time: time, time_unit: of } of report.benchmarks) {
        if (type === 'iteration') native[name] = Math.max(native[name] ?? 0, items ?? unit[of] / time);
    }
} else {
    console.log('build/release/tests/fourfold_bench is not there: no native figures.');
}

const whole = (rate) => Math.round(rate).toLocaleString('en');
for (const [name, rate] of Object.entries(rates)) {
    const beside = native[name] ? `, native ${whole(native[name])}: ${(100 * rate / native[name]).toFixed(0)} % of native` : '';
    console.log(`${name}: ${whole(rate)} a second as WebAssembly${beside}`);
}
console.log(`all ${whole(legal)} legal plans of Llama 3.1 405B on 16,384 GPUs: ${(legal / rates.rank_405b).toFixed(2)} s on one worker`);
// calculon, a published analytical tool in Python, evaluates 70 to 1,500 configurations a second.
console.log(`complete configurations: ${whole(rates.search_405b / 1500)} times calculon's best rate`);
