// The package's command line: npx fourfold.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { core, folder, fourfold, JOB, options, TOO_LARGE, top } from './npm.mjs';

const CORE_WORDS = JSON.parse(readFileSync(join(top, 'core/data/words/en/run.json'), 'utf8'));
const chosen = (job) => JSON.parse(core.estimate(JSON.stringify(job))).job;

test('fit: exit status 0 and the numbers of the answer', () => {
    const { status, stdout, stderr } = fourfold(['fit', ...options(JOB)]);
    assert.equal(status, 0, stderr);
    assert.equal(stderr, '');
    const answer = JSON.parse(core.estimate(JSON.stringify(JOB)));
    const gib = (bytes) => (bytes / 2 ** 30).toFixed(1);
    assert.ok(stdout.startsWith('Llama 3.1 8B on 8 × H100 SXM 80 GB with 8,192-token sequences fits: '), stdout);
    assert.ok(stdout.includes(`${gib(answer.whole_bytes)} of 80 GB on the fullest GPU; up to ${gib(answer.line_share * answer.card_bytes)} GB fit\n`), stdout);
    for (const head of ['Memory ', 'Step ', 'Training ', 'Cost ', 'Energy ', 'Plan ', 'Link ']) assert.ok(stdout.includes(`\n${head}`), head);
    assert.ok(!/\u001b|\u00a0|\u202f| $/m.test(stdout), 'plain text');
});

test('fit: exit status 1 where it does not fit, and what would help', () => {
    const { status, stdout } = fourfold(['fit', ...options(TOO_LARGE)]);
    assert.equal(status, 1);
    assert.match(stdout, /^Llama 3\.1 70B on 8 × H100 SXM 80 GB with 8,192-token sequences does not fit: /);
    assert.match(stdout, /\nChange this first\n {2}\S/);
});

test('why a run died, from standard input', () => {
    const log = 'CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 79.15 GiB total capacity; 76.00 GiB already allocated; 1.00 GiB free; 76.50 GiB reserved in total by PyTorch)';
    const { status, stdout } = fourfold(['why', '-', ...options(TOO_LARGE)], { input: log });
    assert.equal(status, 0);
    assert.match(stdout, /^Why the run died\n[^]*with 76\.0 GB allocated[^]*this plan was bound to fail[^]*The largest parts/);
    assert.equal(fourfold(['why', ...options(JOB)]).status, 2);
    const alone = fourfold(['why', '-'], { input: log });
    assert.match(alone.stdout, /with 76\.0 GB allocated/);
    assert.doesNotMatch(alone.stdout, /Compared|Fourfold counts/);
    assert.match(alone.stderr, /nothing names the run\. Give the script that starts it before the log, or --model, --gpu and --gpus\.\n$/);
});

test('why: what to change first, and whether that is enough', () => {
    const card = 'CUDA out of memory. Tried to allocate 1.00 GiB (GPU 0; 23.64 GiB total capacity; 22.50 GiB already allocated; 0.50 GiB free; 22.60 GiB reserved in total by PyTorch)';
    const said = (job) => {
        const { status, stdout, stderr } = fourfold(['why', '-', ...options(job)], { input: card });
        assert.equal(status, 0, stderr);
        const [change] = JSON.parse(core.alternatives(JSON.stringify(job))).changes;
        return [stdout, change];
    };
    const small = { model: 'llama-3.1-8b', gpu: 'rtx-4090-24gb', gpus: 4, tensor_parallel: 4, pipeline_parallel: 1, context_parallel: 1, micro_batch: 1, recompute: 'none' };
    const [two, pair] = said({ ...small, zero: 'optimizer' });
    assert.deepEqual([pair.label.id, pair.class], ['change.both', 'fits']);
    assert.match(two, /\nWhat to change first: [^\n]* \+ [^\n]*\. It saves [^\n]*\.\n(?!Even)/);
    const [none, change] = said({ model: 'llama-3.1-70b', gpu: 'rtx-4090-24gb', gpus: 1 });
    assert.equal(change.class, 'does_not_fit');
    assert.match(none, /\. It saves [^\n]*\.\nEven then it does not fit: [\d.,]+ GB in all\. No other change is enough either\.\n/);
});

test('why a run died that a GPU’s memory did not end: the words of the page', () => {
    const ends = {
        host: 'slurmstepd: error: Detected 1 oom_kill event in StepId=1234.0. Some of the step tasks have been OOM Killed.\nsrun: error: node01: task 3: Out Of Memory',
        killed: "{'loss': 1.2, 'epoch': 0.1}\n  2%|2  | 6/400 [00:55<56:00,  8.47s/it]\nRoot Cause (first observed failure):\n  exitcode  : -9 (pid: 12345)",
        hang: '[rank3]:[E1127 10:00:00.123 ProcessGroupNCCL.cpp:632] [Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1234)',
    };
    writeFileSync(join(folder, 'job.json'), JSON.stringify(JOB));
    for (const [id, text] of Object.entries(ends)) {
        writeFileSync(join(folder, `${id}.log`), text);
        const [problem] = JSON.parse(core.read_run(JSON.stringify({ text }))).problems;
        assert.equal(problem.message.id, `problem.read_run.${id}`);
        const { [problem.message.id]: message, [problem.suggestion.id]: suggestion } = CORE_WORDS;
        for (const files of [[`${id}.log`], ['job.json', `${id}.log`]]) {
            const { status, stdout } = fourfold(['why', ...files]);
            assert.equal(status, 0);
            assert.equal(stdout, `Why the run died\n\n${message} ${suggestion}\n`);
        }
    }
});

test('a run in phases: as in a link', () => {
    const phases = '1e11_8192_4194304_64,1e10_32768_4194304_64';
    const { status, stdout } = fourfold(['phases', ...options(JOB), '--phases', phases]);
    assert.equal(status, 0);
    assert.match(stdout, /^[^\n]*days[^]*\n +1 {2}[^\n]*\n +2 {2}/);
    const rows = [
        { tokens: 1e11, sequence_length: 8192, tokens_per_step: 4194304, gpus: 64 },
        { tokens: 1e10, sequence_length: 32768, tokens_per_step: 4194304, gpus: 64 },
    ];
    const auto = Object.fromEntries(['storage_gbyte_per_s', 'failure_hours_per_gpu', 'checkpoint_seconds'].map((key) => [key, 'auto']));
    const request = { ...JOB, ...auto, restart_seconds: 600, keep_degrees: false, phases: rows };
    const json = fourfold(['phases', ...options(JOB), '--phases', phases, '--json']).stdout;
    assert.deepEqual(JSON.parse(json), JSON.parse(core.phases(JSON.stringify(request))));
    for (const written of ['100B_8k_4M_8 nodes,1e10_32k_4M tokens_64', '0.1T tokens_8192_4194304_64,10 billion_32k_4M_64'])
        assert.deepEqual(JSON.parse(fourfold(['phases', ...options(JOB), '--phases', written, '--json']).stdout), JSON.parse(json), written);
    assert.match(fourfold(['phases', ...options(JOB), '--phases', '1e11_8192_5000000_64']).stderr, /4,997,120/);
    assert.equal(fourfold(['phases', ...options(JOB)]).status, 2);
    assert.match(fourfold(['phases', ...options(JOB), '--phases', '1e11_8192_much_64']).stderr, /“much” is text, not a number\. Write a number, such as 8,388,608\.\n$/);
    assert.equal(fourfold(['phases', ...options(JOB), '--phases', 'many_8192_4194304_64']).status, 2);
});

test('a run on GPUs of several kinds: as in a link', () => {
    const job = [...options({ model: 'llama-3.1-8b', gpu: 'a100-sxm-80gb', gpus: 8, global_batch: 512 })];
    const { status, stdout, stderr } = fourfold(['pools', ...job, '--pools', 'h100-sxm-80gb_8']);
    assert.equal(status, 0);
    assert.match(stdout, /8 × A100 SXM 80 GB and 8 × H100 SXM 80 GB together take/);
    assert.match(stderr, /No published run covers this/);
    const answer = JSON.parse(fourfold(['pools', ...job, '--pools', 'h100-sxm-80gb_8', '--json']).stdout);
    assert.ok(answer.ways.length > 2 && answer.ways[0].step_seconds < answer.ways.at(-1).step_seconds);
    assert.equal(fourfold(['pools', ...job]).status, 2);
    assert.equal(fourfold(['pools', ...job, '--pools', 'nobody_8']).status, 2);
});

test('--json is what the module answers, byte by byte', () => {
    const cases = [
        ['fit', 'estimate', JOB, []],
        ['fit', 'estimate', TOO_LARGE, []],
        ['best', 'rank', TOO_LARGE, []],
        ['limits', 'limits', { ...JOB, days: 30 }, []],
        ['fit', 'estimate', { ...JOB, tensor_parallel: 3.5 }, []],
    ];
    for (const [command, name, request, more] of cases) {
        const { format: _, ...job } = request;
        const { stdout } = fourfold([command, ...options(job), ...more, '--json']);
        assert.equal(stdout, `${core[name](JSON.stringify(request))}\n`, `${command} ${JSON.stringify(request)}`);
    }
    for (const [more, ...args] of [[{}], [{ format: 'megatron' }, '--to', 'megatron'], [{ format: 'nemo2' }, '--to', 'nemo2']]) {
        const { stdout } = fourfold(['export', ...options(JOB), ...args, '--json']);
        assert.equal(stdout, `${core.export_plan(JSON.stringify({ ...chosen(JOB), ...more }))}\n`);
    }
    assert.equal(fourfold(['gpus', '--json']).stdout, `${core.catalog()}\n`);
});

test('a job, a link and a config come as a file, on stdin or as they are', () => {
    const config = JSON.parse(readFileSync(join(top, 'core/data/models/llama-3.1-8b.json'), 'utf8')).config;
    writeFileSync(join(folder, 'job.json'), JSON.stringify(JOB));
    writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
    const json = (args, more) => JSON.parse(fourfold([...args, '--json'], more).stdout);
    const wanted = json(['fit', ...options(JOB)]);
    const link = '?v=2&model=llama-3.1-8b&gpu=h100-sxm-80gb&gpus=8';
    assert.deepEqual(json(['fit', 'job.json']), wanted);
    assert.deepEqual(json(['fit', '-'], { input: JSON.stringify(JOB) }), wanted);
    assert.deepEqual(json(['fit', `https://example.org/${link}#best`]), wanted);
    assert.deepEqual(json(['fit', '-'], { input: `${link}\n` }), wanted);
    assert.equal(json(['fit', 'config.json', '--gpus', '8']).whole_bytes, wanted.whole_bytes);
    assert.equal(json(['fit', 'job.json', '--gpus', '16']).job.gpus, 16);
    assert.equal(json(['fit', 'job.json', '--gpus', '2 nodes', '--batch', '4M tokens']).job.global_batch, 512);
    assert.equal(json(['fit', 'job.json', '--gpus', '2 nodes']).job.gpus, 16);
});

test('a model that the list of the page lacks is taken by its name, and as a job’s', () => {
    const gemma = JSON.parse(core.find_models('{"words": "gemma-2b"}')).models[0];
    const wanted = `${core.estimate(JSON.stringify({ ...JOB, model: gemma.model }))}\n`;
    for (const model of ['gemma-2b', 'google/gemma-2b', 'Gemma 2B']) assert.equal(fourfold(['fit', ...options({ ...JOB, model }), '--json']).stdout, wanted);
    assert.equal(fourfold(['fit', '-', '--json'], { input: JSON.stringify({ ...JOB, model: 'gemma-2b' }) }).stdout, wanted);
    assert.match(fourfold(['fit', '--model', 'mistral nemo']).stdout, /^Mistral-Nemo-Base-2407 on /);
    assert.match(fourfold(['fit', '--model', 'gemma']).stderr, /\nOther models with such a name: gemma-2b, /);
    const { models } = JSON.parse(core.find_models('{}'));
    const { stdout } = fourfold(['models']);
    for (const { id } of models) assert.ok(stdout.includes(`\n${id} `), id);
});

test('wrong input: all that is wrong at once, what was meant, exit status 2', () => {
    const wrong = (args, more) => {
        const { status, stdout, stderr } = fourfold(args, more);
        assert.equal(status, 2, stderr);
        assert.equal(stdout, '');
        return stderr;
    };
    assert.equal(
        wrong(['fit', '--model', 'lama-3.1-8b', '--gpus', '0', '--tensor-paralel', '8', '--attention', 'flsh', '--micro-batch']),
        [
            '--micro-batch: a value is missing. Write it behind the option.',
            '--model: There is no model “lama-3.1-8b” here. Did you mean llama-3.1-8b?',
            '--gpus: GPUs must be a whole number from 1 to 1,048,576. 0 is too small.',
            '--attention: Attention must be one of: auto, flash, cudnn, and plain. Did you mean flash?',
            '--tensor-paralel: “tensor_paralel” is not a field that Fourfold knows. Did you mean tensor_parallel?',
            '',
        ].join('\n'),
    );
    assert.equal(wrong(['fit', '--jsn']), '“fourfold fit” has no option --jsn. Did you mean --json?\n');
    assert.equal(wrong(['fit', '--top', '3']), '“fourfold fit” has no option --top.\n');
    assert.equal(wrong(['fit', 'missing.json']), 'The file “missing.json” cannot be read. Check its name.\n');
    assert.equal(wrong(['gpus', 'job.json']), '“fourfold gpus” reads no file: leave out “job.json”.\n');
    assert.match(wrong(['fit', '-'], { input: '{"gpus": 8' }), /^This is not valid JSON: /);
    assert.match(wrong(['fit', '-'], { input: 'some text' }), /^“-” is no job as JSON, no link of the page, no config\.json, no launch script and no recipe\./);
    assert.match(wrong(['fit', '--tp', '3']), /^--tp: /);
    assert.match(wrong(['export', '--to', 'other']), /^--to: The format must be one of: megatron, .* and accelerate\.\n$/);
    assert.match(wrong(['best', '--top', 'many']), /^--top: Give a whole number from 1 to 200\.\n$/);
    assert.match(wrong(['fti']), /^There is no command “fti”\. Did you mean fit\?\n/);
    assert.match(wrong([]), /\nUsage: fourfold COMMAND /);
});

test('best lists the first plans of the ranking', () => {
    const { status, stdout } = fourfold(['best', ...options({ ...TOO_LARGE, gpus: 64 }), '--top', '3']);
    const { plans } = JSON.parse(core.rank(JSON.stringify({ ...TOO_LARGE, gpus: 64 })));
    assert.equal(status, 0);
    const rows = stdout.split('\n').filter((line) => /^ *\d+ +\d/.test(line));
    assert.equal(rows.length, 3);
    let before = 0;
    for (const row of rows) {
        const [rank, tensor, pipeline] = row.trim().split(/ +/).map(Number);
        assert.deepEqual([tensor, pipeline], [plans.tensor_parallel[rank - 1], plans.pipeline_parallel[rank - 1]]);
        assert.ok(before === 0 ? rank === 1 : rank > before); // one of those that differ only in their chunks
        before = rank;
    }
    assert.equal(fourfold(['best', ...options(TOO_LARGE)]).status, 1);
});

test('export writes the script to stdout, what it lacks to stderr', () => {
    const { status, stdout, stderr } = fourfold(['export', '--to', 'megatron', ...options(JOB)]);
    assert.equal(status, 0);
    assert.equal(stdout.trimEnd(), JSON.parse(core.export_plan(JSON.stringify(chosen(JOB)))).text.trimEnd());
    assert.match(stderr, /^Fill in before you start: .*\n[\s\S]*Not in the file:\n/);
});

test('a file in every format is read as the plan that it was written for', () => {
    const job = { ...TOO_LARGE, gpus: 64, sequence_length: 8192, tensor_parallel: 8, pipeline_parallel: 1, micro_batch: 1, zero: 'weights', recompute: 'full' };
    const formats = JSON.parse(core.catalog()).config_formats;
    assert.ok(formats.length >= 8);
    for (const { name, ending } of formats) {
        const { status, stdout } = fourfold(['export', '--to', name, ...options(job)]);
        assert.equal(status, 0, name);
        writeFileSync(join(folder, `plan.${ending}`), stdout);
        // what is not the plan's, or not said by every format
        const said = ['MASTER_ADDR=a', 'NODE_RANK=0', 'DATA_ARGS=', 'TRAINING_ARGS=', 'model=llama-3.1-70b', 'gpus=64', 'sequence_length=8192', 'micro_batch=1', 'global_batch=1024'];
        const set = said.flatMap((one) => ['--set', one]);
        const { stdout: read, stderr } = fourfold(['fit', `plan.${ending}`, ...set, '--json']);
        const answer = read === '' ? {} : JSON.parse(read).job;
        assert.equal(answer?.tensor_parallel, 8, `${name}: ${stderr}`);
    }
});

test('export for an older release, and as a Slurm job on hosts in an order', () => {
    const old = fourfold(['export', '--release', '0.10', '--vp', '2', '--pp', '4', '--ovpp', 'true', '--layout', 'equal', ...options({ ...TOO_LARGE, gpus: 64 })]);
    assert.match(old.stdout, /--num-layers-per-virtual-pipeline-stage 10\n/, old.stderr);
    const slurm = fourfold(['export', '--to', 'sbatch', '--hosts', 'b,a', ...options({ ...JOB, gpus: 16 })]);
    assert.match(slurm.stdout, /#SBATCH --nodelist=b,a\n/, slurm.stderr);
    const one = fourfold(['export', '--to', 'sbatch', '--hosts', 'b', ...options({ ...JOB, gpus: 16 })]);
    assert.equal(one.status, 2);
    assert.match(one.stderr, /^--hosts: /);
});

test('best --csv is the whole list for programs', () => {
    const { status, stdout } = fourfold(['best', '--csv', ...options(JOB)]);
    const { plans } = JSON.parse(core.rank(JSON.stringify(JOB)));
    assert.equal(status, 0);
    const lines = stdout.split('\r\n');
    assert.equal(lines.length, plans.step_seconds.length + 2);
    assert.ok(lines[0].startsWith('rank,'), lines[0]);
    assert.equal(fourfold(['fit', '--csv']).stderr, '“fourfold fit” has no option --csv.\n');
});

test('place orders nodes by their links, as a table or as the file of a launcher', () => {
    const names = ['a', 'b', 'c', 'd'];
    // a and c are near each other, as b and d are.
    const rates = names.map((_, i) => names.map((__, j) => (i === j ? null : i % 2 === j % 2 ? 100 : 1)));
    writeFileSync(join(folder, 'links.json'), JSON.stringify({ nodes: names, gbyte_per_s: rates }));
    const job = { ...TOO_LARGE, gpus: 32, tensor_parallel: 8, pipeline_parallel: 2, context_parallel: 1 };
    const table = fourfold(['place', '--links', 'links.json', '--seconds', '1', ...options(job)]);
    assert.equal(table.status, 0, table.stderr);
    assert.match(table.stdout, /shorter steps/);
    const file = fourfold(['place', '--links', 'links.json', '--seconds', '1', '--file', 'hostfile', ...options(job)]);
    assert.equal(file.status, 0, file.stderr);
    assert.deepEqual(file.stdout.match(/\b[a-d]\b/g).sort(), names);
    assert.equal(fourfold(['place', ...options(job)]).stderr, 'Give the measured links: --links FILE.\n');
});

test('what there is to choose from, and help from the fields of the catalogue', () => {
    const { models, gpus, clusters, fields } = JSON.parse(core.catalog());
    for (const [name, list] of Object.entries({ models, gpus, clusters })) {
        const { stdout } = fourfold([name]);
        for (const { id } of list) assert.ok(stdout.includes(`\n${id} `), id);
    }
    const { stdout, status } = fourfold(['fit', '--help']);
    assert.equal(status, 0);
    for (const { key, link } of fields) {
        assert.ok(stdout.includes(`  --${key.replaceAll('_', '-')}`), key);
        assert.ok(stdout.includes(`--${link.replaceAll('_', '-')}`), link);
    }
    assert.ok(!/undefined|NaN|\bfield\.|choice\./.test(stdout));
});

test('the language of the option, else of the system', () => {
    assert.match(fourfold(['fit', ...options(JOB), '--lang', 'ja']).stdout, /メモリ/);
    assert.match(fourfold(['fit', ...options(JOB)], { env: { LC_ALL: 'zh_CN.UTF-8' } }).stdout, /显存/);
    assert.match(fourfold(['fit', ...options(JOB), '--lang', 'xx']).stderr, /en, ja, and zh/);
});

const LAUNCH = `TP=\${TP:-8}
torchrun --nproc_per_node 8 --nnodes 8 pretrain_gpt.py --num-layers 80 --hidden-size 8192 --ffn-hidden-size 28672 --num-attention-heads 64 \\
    --group-query-attention --num-query-groups 8 --swiglu --normalization RMSNorm --disable-bias-linear --untie-embeddings-and-output-weights \\
    --position-embedding-type rope --vocab-size 128256 --seq-length 8192 --micro-batch-size 1 --global-batch-size 512 --bf16 --hidden-dropout 0 \\
    --attention-dropout 0 --use-distributed-optimizer --tensor-model-parallel-size $TP --sequence-parallel --pipeline-model-parallel-size $PP
`.replaceAll('\\$', '$');

test('a launch script: a gate for what it starts, as the same plan by options', () => {
    const job = { model: 'llama-3-70b', gpus: 64, seq: 8192, batch: 512, mb: 1, tp: 8, cp: 1, vp: 1, zero: 'optimizer', rc: 'none', adam: 'fp32', node: 8 };
    const { status, stdout } = fourfold(['fit', '-', '--set', 'PP=4', '--json'], { input: LAUNCH });
    assert.equal(status, 0, stdout);
    const plan = { ...job, pp: 4, ovg: false, ovp: false, layout: 'equal' };
    const same = JSON.parse(fourfold(['fit', ...options(plan), '--json']).stdout);
    const { whole_bytes, time } = JSON.parse(stdout);
    assert.deepEqual([whole_bytes, time.step_seconds], [same.whole_bytes, same.time.step_seconds]);
    assert.equal(fourfold(['fit', '-', '--set', 'PP=1', '--set', 'TP=1'], { input: LAUNCH }).status, 1);
    const idle = fourfold(['fit', '-'], { input: LAUNCH.replaceAll('--nnodes 8', '').replaceAll('--nproc_per_node 8', '') });
    assert.equal(idle.status, 2);
    assert.match(idle.stderr, /does not say gpus\. Give it with --gpus\./);
});

test('an option counts more than a file: what it says is not asked of a recipe', () => {
    const json = (args) => {
        const { stdout, stderr } = fourfold([...args, '--json']);
        assert.notEqual(stdout, '', stderr);
        return JSON.parse(stdout).job;
    };
    const zero = { train_micro_batch_size_per_gpu: 1, gradient_accumulation_steps: 16, zero_optimization: { stage: 3 }, bf16: { enabled: true } };
    writeFileSync(join(folder, 'ds3.json'), JSON.stringify(zero));
    const job = json(['fit', 'ds3.json', '--model', 'llama-3.1-8b', '--gpus', '8', '--seq', '8k']);
    assert.deepEqual([job.model, job.gpus, job.sequence_length, job.global_batch, job.zero], ['llama-3.1-8b', 8, 8192, 128, 'weights']);
    writeFileSync(join(folder, 'fsdp.yaml'), 'distributed_type: FSDP\nfsdp_config:\n  fsdp_version: 2\n  fsdp_reshard_after_forward: true\nmixed_precision: bf16\nnum_machines: 1\nnum_processes: 4\n');
    const model = ['--model', 'Llama 3.1 8B', '--seq', '4096', '--mb', '1'];
    assert.equal(json(['fit', 'fsdp.yaml', ...model, '--batch', '64']).global_batch, 64);
    assert.equal(json(['fit', 'fsdp.yaml', ...model, '--batch', '4M tokens']).global_batch, 1024);
    assert.equal(json(['fit', 'fsdp.yaml', ...model, '--batch', '64', '--gpus', '2 nodes']).gpus, 16);
    assert.equal(fourfold(['fit', 'fsdp.yaml', ...model]).stderr, '“fsdp.yaml” does not say global_batch. Give it with --global-batch.\n');
});
