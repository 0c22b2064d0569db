// How many estimates a second the shipped module makes, bare and through JSON as the page asks, and its share of the native speed:
//   cmake --workflow --preset wasm && cmake --workflow --preset release && node tests/web/bench.mjs
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
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
const WHOLE = JSON.stringify({ ...JSON.parse(LARGE), version: 2, leave_out: '' });
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

// ---- the headline and the ranking of every model on every GPU, over these numbers of GPUs (those of tests/search/search_test.cpp), in processor
// time: the same on a busy machine, as far as caches allow. What took long is asked again; its shortest time counts.
const COUNTS = [1, 2, 4, 8, 16, 32, 48, 64, 72, 128, 256, 448, 486, 512, 1024, 2048, 4096, 8192, 16384];
const LONG_MS = 20;
function processorMs(work) {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
}
const { models, gpus: cards } = JSON.parse(core.catalog());
const jobs = models.flatMap(({ id: model, max_position_embeddings: most }) => cards.flatMap(({ id: gpu }) => COUNTS.map((gpus) => (
    { model, gpu, gpus, global_batch: Math.max(1024, gpus / 2), sequence_length: Math.min(8192, most ?? 8192) }))));
for (const name of ['estimate', 'rank']) {
    let looked = 0, legalPlans = 0;
    const times = jobs.map((job) => {
        const text = JSON.stringify(job);
        let answer;
        let ms = processorMs(() => { answer = core[name](text); });
        for (let again = 0; again < 3 && ms > LONG_MS; ++again) ms = Math.min(ms, processorMs(() => core[name](text)));
        if (name === 'rank') {
            const ranking = JSON.parse(answer);
            looked += ranking.looked_at ?? 0;
            legalPlans += ranking.legal ?? 0;
        }
        return { ms, job };
    }).sort((a, b) => a.ms - b.ms);
    const at = (part) => times[Math.min(times.length - 1, Math.floor(part * times.length))].ms.toFixed(1);
    const { model, gpu, gpus } = times.at(-1).job;
    console.log(`${name}, ${whole(jobs.length)} jobs: median ${at(0.5)} ms, 99 of 100 within ${at(0.99)} ms, longest ${at(1)} ms (${model}, ${gpus} x ${gpu})`);
    if (name === 'rank') console.log(`rank: of ${whole(legalPlans)} legal plans the times of ${whole(looked)} were worked out`);
}

// ---- placement. Pipette's annealer, in Python, tries 17,600 moves a second with 16 nodes and 6,500 with 64.
function place(n, pipelines, gbytePerS, numbers, moves, goOn = null) {
    const request = JSON.stringify({ links: { nodes: Array.from({ length: n }, (_, i) => `n${i}`) }, moves, pipette: { pipelines, ...numbers } });
    const rates = Float64Array.from(gbytePerS.flat(), (rate) => rate ?? Number.NaN); // as the page hands them over
    const start = performance.now();
    const answer = JSON.parse(core.place(request, goOn, rates, null));
    if (!answer.ok) throw new Error(JSON.stringify(answer.problems));
    return { ...answer, seconds: (performance.now() - start) / 1000 };
}
for (const [n, side, pipette] of [[16, 4, 17_600], [64, 8, 6_500], [1024, 32, null]]) {
    let state = 1;
    const random = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
    const rates = Array.from({ length: n }, (_, a) => Array.from({ length: n }, (_, b) => (a === b ? null : 5 + Math.round(400 * random()) / 10)));
    const numbers = { stages: side, inter_dp: side, pp_msg_gbyte: 0.0336, dp_msg_gbyte: 1.7 };
    let improved = null;
    const moves = n < 1024 ? 4_000_000 : 1_000_000;
    // reading the matrix and writing the answer are in the first of two runs too; the difference is the moves alone
    const idle = place(n, side, rates, numbers, 1).seconds;
    const first = performance.now();
    const best = place(n, side, rates, numbers, moves, (text) => {
        const { best_seconds: now, default_seconds: before } = JSON.parse(text);
        if (improved === null && now < before) improved = (performance.now() - first) / 1000;
        return true;
    });
    const rate = moves / (best.seconds - idle);
    const beside = pipette ? `, ${whole(rate / pipette)} times Pipette's ${whole(pipette)}` : `, better after ${improved?.toFixed(2)} s, of which reading and answering take ${idle.toFixed(2)} s`;
    console.log(`placement, ${n} nodes: ${whole(rate)} moves a second as WebAssembly${beside}`);
}
const table = JSON.parse(readFileSync(new URL('tests/measured/placement_cases.json', root), 'utf8'));
let logs = 0;
for (const [name, pipelines, stages, inter, inner, pp, dp, , after1, after30, known] of table.rows) {
    const below = table.matrices[name], n = below.length + 1;
    const rates = Array.from({ length: n }, (_, a) => Array.from({ length: n }, (_, b) => (a === b ? null : a > b ? below[a - 1][b] : below[b - 1][a])));
    const { best_seconds: best, seconds } = place(n, pipelines, rates, { stages, inter_dp: inter, inner_dp: inner, pp_msg_gbyte: pp, dp_msg_gbyte: dp }, 4_000_000);
    logs += Math.log(1000 * best / known);
    console.log(`${name}, ${pipelines} x ${stages}: ${(1000 * best).toFixed(1)} ms after ${seconds.toFixed(2)} s; Pipette ${after1.toFixed(1)} ms after 1 s, ${after30.toFixed(1)} ms after 30 s; best known ${known.toFixed(1)} ms`);
}
console.log(`geometric mean over the best known: ${Math.exp(logs / table.rows.length).toFixed(4)}`);
