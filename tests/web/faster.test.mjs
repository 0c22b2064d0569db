// A slow run in every format that is read and written: what the command line says to change, changed in the file, is the faster plan.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after, before } from 'node:test';
import { fileURLToPath } from 'node:url';
import { root } from './module.mjs';

const cli = fileURLToPath(new URL('build/package/cli.js', root));
const GPU = ['--gpu', 'h100-sxm-80gb'];
// What a file may leave to whoever starts it.
const SAID = ['MASTER_ADDR=a', 'NODE_RANK=0', 'DATA_ARGS=', 'TRAINING_ARGS=', 'model=llama-3.1-8b', 'gpus=16', 'micro_batch=1', 'global_batch=256'];
// Layers of single operations keep so much that the fastest plan recomputes some of them at 8,192 tokens, which accelerate cannot say.
const tokens = (format) => (format === 'accelerate' ? 2048 : 8192);

let folder;
before(() => {
    folder = mkdtempSync(join(tmpdir(), 'fourfold-faster-'));
});
after(() => rmSync(folder, { recursive: true, force: true }));

function fourfold(args) {
    const { status, stdout, stderr } = spawnSync(process.execPath, [cli, ...args], { cwd: folder, encoding: 'utf8', env: { ...process.env, LANG: 'C', LC_ALL: 'C' } });
    assert.ok(status === 0 || status === 1, stderr);
    return stdout;
}
const fit = (text, name, format, ...more) => {
    writeFileSync(join(folder, name), text);
    return fourfold(['fit', name, ...GPU, ...[...SAID, `sequence_length=${tokens(format)}`].flatMap((one) => ['--set', one]), ...more]);
};
// Tensor parallel over all GPUs of a node and every layer recomputed: far from the fastest for 8 billion parameters.
const slow = (format, more) =>
    fourfold(['export', '--to', format, '--model', 'llama-3.1-8b', ...GPU, '--gpus', '16', '--seq', String(tokens(format)), '--batch', '256', '--mb', '1', '--cp', '1', '--tp', '8', '--recompute', 'full', ...more]);

const bare = (line) => line.replace(/\s*\\$/, '').replace(/,$/, '').trim();

// A person with an editor: goes through the changes from top to bottom.
function changed(text, changes) {
    const lines = text.trimEnd().split('\n');
    let at = Math.max(0, lines.findIndex((line) => /micro_batch_size=|--micro-batch-size/.test(line)));
    for (const change of changes.split('\n')) {
        const [sign, wanted] = [change[0], change.slice(2)];
        if (sign === '+') {
            const ending = lines[at]?.endsWith('\\') || lines[at - 1]?.endsWith('\\') ? ' \\' : '';
            lines.splice(at, 0, wanted + ending);
            at += 1;
            continue;
        }
        const found = lines.findIndex((line, i) => i >= (sign === ' ' || wanted.trim() === '}' ? at : 0) && bare(line) === bare(wanted));
        assert.ok(found >= 0, `not in the file: ${change}`);
        if (sign === '-') lines.splice(found, 1);
        at = sign === '-' ? found : found + 1;
    }
    if (!text.startsWith('{')) return `${lines.join('\n').replace(/\\$/, '')}\n`;
    const clean = lines.map((line) => line.replace(/,$/, ''));
    return clean.map((line, i) => (/^\s*[{]?$|{$/.test(line) || /^\s*}/.test(clean[i + 1] ?? '}') ? line : `${line},`)).join('\n');
}

const FORMATS = [
    ['megatron', ['--pp', '2', '--zero', 'optimizer'], '- --tensor-model-parallel-size 8'],
    ['bridge', ['--pp', '2', '--zero', 'optimizer'], '- model.tensor_model_parallel_size=8\n+ model.tensor_model_parallel_size=1'],
    ['nemo2', ['--pp', '2', '--zero', 'optimizer'], '- trainer.strategy.tensor_model_parallel_size=8\n+ trainer.strategy.tensor_model_parallel_size=1'],
    ['torchtitan', ['--pp', '1', '--zero', 'weights'], '- tensor_parallel_degree = 8\n+ tensor_parallel_degree = 1'],
    ['nanotron', ['--pp', '2', '--zero', 'optimizer'], '  parallelism:\n-   dp: 1\n+   dp: '],
    ['deepspeed', ['--pp', '1', '--zero', 'weights'], '-         "autotp_size": 8\n'],
    ['accelerate', ['--pp', '1', '--zero', 'weights'], '-   parallelism_config_tp_size: 8'],
];

for (const [format, more, wanted] of FORMATS) {
    test(`${format}: what is said to change, changed, is the faster plan`, () => {
        const text = slow(format, more);
        const answer = JSON.parse(fit(text, 'slow', format, '--json'));
        const { plan, said, left_out, changes } = answer.faster;
        assert.ok(changes.includes(wanted), changes);
        const meant = said ?? plan;
        assert.ok(meant.step_seconds < answer.step_seconds / 1.5, `${meant.step_seconds} after ${answer.step_seconds}`);
        assert.ok(said !== null || left_out.length === 0, JSON.stringify(left_out));
        const next = JSON.parse(fit(changed(text, changes), 'fast', format, '--json'));
        assert.ok(Math.abs(next.step_seconds / meant.step_seconds - 1) < 1e-9, `${next.step_seconds} for ${meant.step_seconds}\n${changes}`);
        if (left_out.length === 0) assert.equal(next.faster, null); // else there is still what it cannot say
    });
}

// Megatron-LM stops where two of the three flags that say the chunks of a GPU are set.
const CHUNKS = ['--num-virtual-stages-per-pipeline-rank 2', '--num-layers-per-virtual-pipeline-stage 8', "--pipeline-model-parallel-layout 'Et*8|t*8|t*8|t*8L'"];
for (const flag of CHUNKS) {
    test(`megatron, ${flag}: the change takes out what the script has`, () => {
        const text = slow('megatron', ['--pp', '2', '--vp', '2', '--zero', 'optimizer']).replace(CHUNKS[0], flag);
        assert.ok(text.includes(flag), text);
        const { plan, said, changes } = JSON.parse(fit(text, 'slow', 'megatron', '--json')).faster;
        assert.ok(changes.split('\n').includes(`- ${flag}`), changes);
        const next = JSON.parse(fit(changed(text, changes), 'fast', 'megatron', '--json'));
        assert.ok(Math.abs(next.step_seconds / (said ?? plan).step_seconds - 1) < 1e-9, changes);
    });
}

test('torchtitan without a global batch: the change holds the batch, and quotes the file', () => {
    const text = '[model]\nname = "llama3"\nflavor = "8B"\n\n[training]\nlocal_batch_size = 2\nseq_len = 8192\n\n[parallelism]\ndata_parallel_shard_degree = -1\ntensor_parallel_degree = 1\n\n[activation_checkpoint]\nmode = "full"\n';
    const read = (file, name) => {
        writeFileSync(join(folder, name), file);
        return JSON.parse(fourfold(['fit', name, ...GPU, '--gpus', '8', '--json']));
    };
    const { faster, job } = read(text, 'small.toml');
    assert.match(faster.changes, /\n\+ global_batch_size = 16\n(.*\n)*- data_parallel_shard_degree = -1\n/);
    const next = read(changed(text, faster.changes), 'next.toml');
    assert.equal(next.job.global_batch, job.global_batch);
    assert.ok(Math.abs(next.step_seconds / faster.plan.step_seconds - 1) < 1e-9, faster.changes);
});

test('torchtitan: no change towards a plan that it cannot say', () => {
    writeFileSync(join(folder, 'best.toml'), fourfold(['export', '--to', 'torchtitan', '--model', 'llama-3.1-8b', ...GPU, '--gpus', '8', '--fw', 'pytorch', '--tp', '1', '--pp', '1', '--cp', '1', '--zero', 'gradients', '--recompute', 'full']));
    const { faster } = JSON.parse(fourfold(['fit', 'best.toml', ...GPU, '--json']));
    assert.ok(faster.left_out.length > 0, JSON.stringify(faster));
    assert.deepEqual([faster.said, faster.changes], [null, '']);
});

test('megatron: other names of an argument and defaults that the script says are taken out', () => {
    const more = ['--pp', '2', '--zero', 'optimizer'];
    const rest = '    --recompute-activations\n    --context-parallel-size 1\n)';
    const plan = slow('megatron', more).replace(/ *--recompute-(granularity|method|num-layers) \S+\n/g, '');
    const text = plan.replace(/(PLAN_ARGS=\([^)]*)\)/, `$1${rest}`);
    assert.ok(text.includes('--recompute-activations') && !text.includes('--recompute-method'), text);
    const { plan: best, said, changes } = JSON.parse(fit(text, 'alias', 'megatron', '--json')).faster;
    assert.ok(changes.split('\n').includes('- --recompute-activations'), changes);
    const next = JSON.parse(fit(changed(text, changes), 'alias-next', 'megatron', '--json'));
    assert.ok(Math.abs(next.step_seconds / (said ?? best).step_seconds - 1) < 1e-9, changes);
});

// The same in Python, where an override is a line that sets it.
const PYTHON = { null: 'None', true: 'True', false: 'False' };
function changedPython(text, changes, object) {
    const lines = text.trimEnd().split('\n');
    const start = lines.pop();
    for (const change of changes.split('\n')) {
        const [, sign, key, value] = /^([-+]) ([\w.]+)=(.*)$/.exec(change);
        if (sign === '+') lines.push(`${object}.${key} = ${PYTHON[value] ?? (/^[\d.]+$|^(None|True|False|torch\..*)$/.test(value) ? value : JSON.stringify(value.replace(/['"]/g, '')))}`);
        else lines.splice(lines.findIndex((line) => line === `${object}.${key} = ${value}`), 1);
    }
    return `${[...lines, start].join('\n')}\n`;
}
const NEMO = `import nemo_run as run
from nemo.collections import llm
recipe = llm.llama31_405b.pretrain_recipe(name="l405", num_nodes=72, num_gpus_per_node=8)
recipe.trainer.strategy.tensor_model_parallel_size = 8
recipe.trainer.strategy.pipeline_model_parallel_size = 9
recipe.trainer.strategy.virtual_pipeline_model_parallel_size = 7
recipe.trainer.strategy.context_parallel_size = 2
recipe.data.global_batch_size = 252
run.run(recipe, executor=run.SlurmExecutor(nodes=72))
`;
const bridge = (model, lines) => `from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain
cfg = ${model}_pretrain_config()
${lines.join('\n')}
pretrain(cfg, forward_step)
`;
const HALF = `GPT_ARGS="
    --tensor-model-parallel-size 4 \\
    --pipeline-model-parallel-size 2 \\
    --num-layers 32 \\
    --hidden-size 4096 \\
    --num-attention-heads 32 \\
    --seq-length 4096 \\
    --micro-batch-size 1 \\
    --global-batch-size 256 \\
`;
// What nobody says is the recipe's, or of the script's other half: no text of which all is known.
const PARTS = [
    ['nemo2.py', NEMO, ['--seq', '8192', '--mb', '1'], (text, changes) => changedPython(text, changes, 'recipe')],
    ['bridge.py', bridge('qwen3_235b_a22b', ['cfg.train.global_batch_size = 2048']), ['--gpus', '256', '--seq', '4096', '--mb', '1'], (text, changes) => changedPython(text, changes, 'cfg')],
    ['own.py', bridge('llama3_70b', ['cfg.train.global_batch_size = 128', 'cfg.train.micro_batch_size = 1', 'cfg.model.seq_length = 8192']), ['--gpus', '64'], (text, changes) => changedPython(text, changes, 'cfg')],
    ['half.sh', HALF, ['--set', 'vocab_size=32000', '--gpus', '8'], changed],
];
const SPLIT = ['tensor_parallel', 'pipeline_parallel', 'context_parallel', 'expert_parallel', 'micro_batch', 'virtual_stages', 'recompute', 'zero', 'sequence_parallel'];
for (const [name, text, options, edited] of PARTS) {
    test(`${name} says a part: what is said to change is the whole plan`, () => {
        const read = (file, said) => {
            writeFileSync(join(folder, name), file);
            const answer = JSON.parse(fourfold(['fit', name, ...GPU, ...said, '--json']));
            return { ...answer, printed: fourfold(['fit', name, ...GPU, ...said]) };
        };
        const answer = read(text, options);
        const isAnswer = (i) => ['--seq', '--mb'].includes(options[i]); // the change says it too
        const { plan, chose, changes } = answer.faster;
        assert.ok(chose !== null && !answer.printed.includes('As it stands'), answer.printed);
        assert.ok(changes.split('\n').every((line) => !line.startsWith('- ') || text.includes(line.slice(2).replace(/[= ].*/, ''))), changes);
        const meant = plan ?? { ...answer.job, step_seconds: answer.step_seconds };
        const next = read(edited(text, changes), options.filter((_, i) => !isAnswer(i) && !isAnswer(i - 1)));
        assert.ok(Math.abs(next.step_seconds / meant.step_seconds - 1) < 1e-9, `${next.step_seconds} for ${meant.step_seconds}\n${changes}`);
        assert.deepEqual(SPLIT.map((field) => [field, next.job[field]]), SPLIT.map((field) => [field, meant[field]]));
        if (name === 'half.sh') return; // Megatron-LM has no flag that says that nothing is recomputed
        assert.deepEqual([next.faster, next.printed.includes('As it stands, it fits')], [null, true]);
    });
}

test('the text says both times, and the changes; a file that starts no training has none', () => {
    const text = fit(slow('nanotron', FORMATS[4][1]), 'plan', 'nanotron');
    assert.match(text, /\n\nHow fast it is\n\nAs it stands, it fits: [^\n]* a step\.\nOn the same GPUs, [^\n]*\n\nWhat to change, as nanotron writes it:\n {2}parallelism:\n- {3}dp: 1\n/);
    writeFileSync(join(folder, 'job.json'), JSON.stringify({ model: 'llama-3.1-8b', gpus: 8 }));
    assert.ok(!('faster' in JSON.parse(fourfold(['fit', 'job.json', '--json']))));
    assert.doesNotMatch(fourfold(['fit', 'job.json']), /How fast it is/);
});
