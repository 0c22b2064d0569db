// The shipped WebAssembly module gives the answers that the native core gives. Needs no npm package:
//   cmake --workflow --preset wasm && node --test tests/web/module.test.mjs
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { ask, differences, goldenCases } from './golden.mjs';
import { firstAsked } from '../../wasm/asked.mjs';
import { loadFirst, loadModule, root, wasmFiles } from './module.mjs';

const core = await loadModule();
const estimate = (job) => JSON.parse(core.estimate(JSON.stringify(job)));

const cases = goldenCases();
test('there are golden cases', () => assert.ok(cases.length > 0));
for (const one of cases) {
    test(`golden: ${one.name}`, () => {
        const { response, columns } = ask(core, one);
        const found = differences(one.response, response);
        if (one.columns) found.push(...differences(one.columns, columns, 'columns'));
        assert.deepEqual(found.slice(0, 10), []);
    });
}

const WRONG = ['', '{', '[]', 'null', '1e999', '{"gpus": 1e400}', '{"gpus": 9007199254740993}', '\u0000', '\ud800', '{"model": {}}', '['.repeat(100000)];

// A page asks these before the second file is there.
test('the first file alone answers what is asked first', async () => {
    let alone = await loadFirst();
    assert.equal(alone.catalog(false), core.catalog(false));
    assert.throws(() => alone.catalog(), /is in the second file/);
    alone = await loadFirst();
    let asked = 0;
    firstAsked(JSON.parse(core.catalog()), (request) => {
        const text = JSON.stringify(request);
        assert.equal(alone.estimate(text), core.estimate(text), text);
        ++asked;
    });
    assert.ok(asked > 200);
});

// What threw may be left in any state: it is not asked again, as in web/src/core/client.ts.
test('whatever else is asked of it is answered as by both files, or it says that it lacks the second one', async () => {
    let answered = 0, alone = null;
    const requests = cases.map(({ request }) => request).filter(Boolean);
    const texts = [...requests, ...requests.map((text) => text.replace('{', '{"explain": false, ')), ...WRONG];
    for (const text of texts) {
        alone ??= await loadFirst();
        try {
            assert.equal(alone.estimate(text), core.estimate(text), text.slice(0, 80));
            ++answered;
        } catch (error) {
            assert.match(error.message, /is in the second file/);
            alone = null;
        }
    }
    assert.ok(answered > 0 && answered < texts.length, `${answered} of ${texts.length}`);
    const fresh = await loadFirst();
    assert.throws(() => fresh.limits(JSON.stringify({ version: 2, model: 'llama-3.1-8b', gpus: 64 })), /is in the second file/);
});

// The page calculates them when the reader comes to them: a run that the core refuses would stand there with its problem.
const famous = JSON.parse(readFileSync(new URL('web/src/evidence/famous.json', root), 'utf8'));
for (const { id, request } of famous.runs) {
    test(`famous run: ${id}`, () => {
        const answer = estimate({ version: 2, ...famous.every, ...request });
        assert.ok(answer.ok, JSON.stringify(answer.problems));
    });
}

// What the tool of the authors of arXiv 2411.06465 prints for Llama-3.1-8B with 8,192 tokens, FlashAttention, the distributed
// optimizer and fp32 gradients, in GiB: to the last printed digit.
const paper = [
    { tp: 2, cp: 1, pp: 1, micro: 1, dp: 2, state: 44.87260437011719, activations: 22.64453125 },
    { tp: 1, cp: 2, pp: 1, micro: 1, dp: 2, state: 67.30887222290039, activations: 22.64453125 },
    { tp: 2, cp: 1, pp: 2, micro: 1, dp: 32, state: 11.919273376464844, activations: 20.75 },
    { tp: 2, cp: 2, pp: 1, micro: 2, dp: 32, state: 23.137436628341675, activations: 22.64453125 },
];
for (const { tp, cp, pp, micro, dp, state, activations } of paper) {
    test(`the paper's tool: TP ${tp}, CP ${cp}, PP ${pp}, DP ${dp}, micro-batch ${micro}`, () => {
        const answer = estimate({
            version: 1, method: 'fujii2024', model: 'llama-3.1-8b', sequence_length: 8192, global_batch: 1024, gpus: tp * cp * pp * dp,
            tensor_parallel: tp, context_parallel: cp, pipeline_parallel: pp, micro_batch: micro, virtual_stages: 1,
            attention: 'flash', zero: 'optimizer', gradients_in_fp32: true, hidden_dropout: false, attention_dropout: false,
        });
        assert.ok(answer.ok, JSON.stringify(answer.problems));
        assert.equal(answer.data_parallel, dp);
        const bytes = Object.fromEntries(answer.groups.map((group) => [group.id, group.bytes]));
        assert.equal((bytes.weights + bytes.gradients + bytes.optimizer) / 2 ** 30, state);
        assert.equal(bytes.activations / 2 ** 30, activations);
    });
}

// The boundary itself: text that is no JSON, no object, not even well-formed Unicode must come back as problems, never as an exception.
for (const text of WRONG) {
    for (const name of ['estimate', 'timeline', 'export_plan', 'import_plan', 'read_run', 'import_config', 'search', 'rank', 'alternatives', 'versus', 'limits', 'phases', 'pools', 'calibrate', 'read_links', 'place']) {
        test(`${name} of ${JSON.stringify(text.slice(0, 30))}`, () => {
            const { response } = ask(core, { function: name, request: text });
            if (response.ok) return;
            assert.equal(response.ok, false);
            assert.ok(response.problems.length > 0);
            for (const problem of response.problems) assert.ok(problem.rule && problem.message, JSON.stringify(problem));
        });
    }
}

test('a timeline of a pipeline: passes of a stage in order, cut to what can be drawn, quick enough to follow typing', () => {
    const request = { version: 1, model: 'llama-3.1-405b', gpus: 2016, pipeline_parallel: 63, tensor_parallel: 8, context_parallel: 1, micro_batch: 1, global_batch: 2048 };
    const start = process.cpuUsage();
    const { timeline, note } = JSON.parse(core.timeline(JSON.stringify(request)));
    assert.ok(process.cpuUsage(start).user < 1e6, 'more than a second of the processor');
    assert.equal(timeline.stages.length, 63);
    assert.match(note.id, /^timeline\.cut_/);
    assert.ok(timeline.micro_batches < timeline.all_micro_batches);
    assert.ok(timeline.stages.reduce((sum, { start }) => sum + start.length, 0) <= 20_000);
    for (const { start, end, busy_seconds, idle_seconds } of timeline.stages) {
        for (let i = 1; i < start.length; ++i) assert.ok(start[i] >= end[i - 1]);
        assert.ok(Math.abs(busy_seconds + idle_seconds - timeline.makespan_seconds) < 1e-9 * timeline.makespan_seconds);
    }
    const alone = JSON.parse(core.timeline(JSON.stringify({ version: 1, gpus: 8, pipeline_parallel: 1 })));
    assert.ok(alone.timeline.bubble_share < 1e-12);
});

test('calibrate: a factor from three plans is the one that the times were made with, and estimate applies it', () => {
    const job = { version: 1, model: 'llama-3.1-8b', gpus: 64, context_parallel: 1, micro_batch: 1 };
    const runs = [[1, 4], [2, 2], [4, 1]].map(([tensor_parallel, pipeline_parallel]) => {
        const plan = { tensor_parallel, pipeline_parallel };
        return { ...plan, step_seconds: 1.25 * estimate({ ...job, ...plan }).time.step_seconds };
    });
    const answer = JSON.parse(core.calibrate(JSON.stringify({ ...job, runs })));
    assert.ok(answer.ok, JSON.stringify(answer.problems));
    assert.deepEqual(answer.set, { time_factor: 1.25, time_runs: 3 });
    const after = estimate({ ...job, ...runs[0], step_seconds: undefined, ...answer.set }).time.step_seconds;
    assert.ok(Math.abs(after - runs[0].step_seconds) < 1e-9 * after);
    assert.equal(JSON.parse(core.calibrate(JSON.stringify({ ...job, runs: runs.slice(0, 1) }))).kind, 'none');
});

test('read_links: each fixture that the native tests read is read here, and 1,024 nodes in a second or two', () => {
    const folder = new URL('tests/links/', root);
    const formats = { 'own.json': 'json', 'pipette.json': 'pipette', 'named.csv': 'matrix', 'nccl.out': 'nccl_tests', 'osu.out': 'osu', 'mpigraph.out': 'mpigraph' };
    for (const [file, format] of Object.entries(formats)) {
        const answer = JSON.parse(core.read_links(JSON.stringify({ text: readFileSync(new URL(file, folder), 'utf8') })));
        assert.ok(answer.ok, `${file}: ${JSON.stringify(answer.problems)}`);
        assert.equal(answer.format.id, format);
        const again = JSON.parse(core.read_links(JSON.stringify({ text: JSON.stringify(answer.links) })));
        assert.deepEqual(again.links, answer.links);
    }
    const refused = JSON.parse(core.read_links(JSON.stringify({ text: readFileSync(new URL('no-unit.txt', folder), 'utf8') })));
    assert.deepEqual(refused.problems.map(({ field, rule }) => [field, rule]), [['unit', 'unit']]);
    const nodes = 1024;
    const row = (from) => Array.from({ length: nodes }, (_, to) => (from === to ? 0 : 20 + ((from * 7 + to * 13) % 101) * 0.0317)).join(',');
    const request = JSON.stringify({ text: Array.from({ length: nodes }, (_, from) => row(from)).join('\n'), unit: 'gbyte_per_s' });
    const start = process.cpuUsage();
    const text = core.read_links(request);
    const milliseconds = process.cpuUsage(start).user / 1000;
    console.log(`read_links of 1,024 x 1,024 numbers: ${milliseconds.toFixed(0)} ms, ${(text.length / 1e6).toFixed(1)} MB answered`);
    assert.ok(milliseconds < 5000 && text.length < 9e6);
    assert.equal(JSON.parse(text).links.nodes.length, nodes);
});

test('place: progress comes, a cancel is heard, the result is a permutation and never worse', () => {
    const n = 16, nodes = Array.from({ length: n }, (_, i) => `n${i}`);
    const gbyte_per_s = nodes.map((_, a) => nodes.map((_, b) => (a === b ? null : 5 + ((a * b + a + b) * 7) % 31)));
    const request = JSON.stringify({ links: { nodes, gbyte_per_s }, moves: 200_000, pipette: { pipelines: 4, stages: 4, inter_dp: 4, pp_msg_gbyte: 0.03, dp_msg_gbyte: 1.7 } });
    const heard = [];
    const answer = JSON.parse(core.place(request, (text) => heard.push(JSON.parse(text)) > 0));
    assert.ok(answer.ok, JSON.stringify(answer.problems));
    assert.ok(heard.length >= 10);
    assert.ok(heard.every(({ best_seconds }, i) => i === 0 || best_seconds <= heard[i - 1].best_seconds));
    assert.deepEqual([...answer.placement].sort((a, b) => a - b), nodes.map((_, i) => i));
    assert.ok(answer.best_seconds <= answer.default_seconds);
    assert.equal(core.place(request, null), core.place(request, () => true));
    // the matrix beside the text
    const { links, ...rest } = JSON.parse(request);
    const rates = Float64Array.from(gbyte_per_s.flat(), (rate) => rate ?? Number.NaN);
    assert.equal(core.place(JSON.stringify({ ...rest, links: { nodes } }), null, rates, null), core.place(request, null));
    rates[5] = -1;
    assert.deepEqual(JSON.parse(core.place(JSON.stringify({ ...rest, links: { nodes } }), null, rates, null)).problems.map(({ field }) => field), ['links.gbyte_per_s[0][5]']);
    const stopped = JSON.parse(core.place(request, () => false));
    assert.ok(stopped.stopped && stopped.moves === 16_384 && stopped.best_seconds <= stopped.default_seconds);
});

test('a name that several have is not called unknown', () => {
    const message = (gpu) => estimate({ version: 2, gpu }).problems[0].message.id;
    assert.deepEqual(['a100', 'nothing'].map(message), ['problem.several_in_list', 'problem.not_in_list']);
});

test('the same question gives the same text again', () => {
    const request = JSON.stringify({ version: 2, model: 'llama-3.1-8b', gpus: 64 });
    assert.equal(core.estimate(request), core.estimate(request));
});

test('the reverse questions: every answer is a plan that fits, and the days are kept', () => {
    const answer = JSON.parse(core.limits(JSON.stringify({ model: 'llama-3.1-70b', gpus: 64, token_budget: 1e12, days: 30 })));
    assert.ok(answer.ok, JSON.stringify(answer.problems));
    assert.equal(answer.fewest_gpus.class, 'fits');
    assert.ok(answer.fewest_in_time.days <= 30);
    assert.ok(answer.fewest_in_time.safe_gpus >= answer.fewest_in_time.gpus && answer.fewest_in_time.gpus >= answer.fewest_gpus.gpus);
    for (const key of ['largest_micro_batch', 'largest_batch', 'largest_sequence']) assert.equal(answer[key].class, 'fits', key);
    const { tensor_parallel, context_parallel, pipeline_parallel, micro_batch } = answer.largest_sequence.plan;
    const there = estimate({ ...answer.job, sequence_length: answer.largest_sequence.value, tensor_parallel, context_parallel, pipeline_parallel, micro_batch });
    assert.equal(there.total_bytes, answer.largest_sequence.total_bytes);
    for (const days of [-1, 1e99, '"NaN"', null]) {
        const refused = JSON.parse(core.limits(`{"days": ${days}}`));
        assert.deepEqual(refused.problems.map(({ field }) => field), ['days']);
    }
});

test('columns outlive later searches', () => {
    const request = JSON.stringify({ version: 2, model: 'llama-3.1-8b', gpus: 64 });
    const { columns } = core.search(request);
    const before = Array.from(columns.total_bytes);
    for (let i = 0; i < 20; ++i) core.search(request);
    assert.ok(before.length > 0);
    assert.deepEqual(Array.from(columns.total_bytes), before);   // a view into WebAssembly memory would be empty after it grew
});

test('the built page carries these very modules', (context) => {
    let names;
    try {
        names = readdirSync(new URL('web/dist/', root), { recursive: true }).filter((name) => name.endsWith('.wasm'));
    } catch {
        return context.skip('the page is not built');
    }
    const built = wasmFiles.map((file) => readFileSync(file));
    assert.equal(names.length, built.length, `.wasm in web/dist: ${names}`);
    for (const name of names) assert.ok(built.some((one) => one.equals(readFileSync(new URL(`web/dist/${name}`, root)))), name);
});

test('every field and every choice of it has its words, in every language', () => {
    const { fields } = JSON.parse(core.catalog());
    for (const language of ['en', 'ja', 'zh']) {
        const folder = new URL(`core/data/words/${language}/`, root);
        const words = Object.assign({}, ...readdirSync(folder).map((name) => JSON.parse(readFileSync(new URL(name, folder), 'utf8'))));
        const wanted = fields.flatMap(({ key, choices = [] }) => [`field.${key}`, ...choices.map(({ id }) => `choice.${key}.${id}`)]);
        assert.deepEqual(wanted.filter((id) => !words[id]), [], language);
    }
});
