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
    ['deepspeed', ['--pp', '1', '--zero', 'weights'], '-         "autotp_size": 8\n+         "autotp_size": '],
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

test('the text says both times, and the changes; a file that starts no training has none', () => {
    const text = fit(slow('nanotron', FORMATS[4][1]), 'plan', 'nanotron');
    assert.match(text, /\n\nHow fast it is\n\nAs it stands, it fits: [^\n]* a step\.\nOn the same GPUs, [^\n]*\n\nWhat to change, as nanotron writes it:\n {2}parallelism:\n- {3}dp: 1\n/);
    writeFileSync(join(folder, 'job.json'), JSON.stringify({ model: 'llama-3.1-8b', gpus: 8 }));
    assert.ok(!('faster' in JSON.parse(fourfold(['fit', 'job.json', '--json']))));
    assert.doesNotMatch(fourfold(['fit', 'job.json']), /How fast it is/);
});
