import { expect, test } from 'vitest';
import type { Setting } from '../core/api';
import { goodOf } from '../shared/test-data';
import { formatOf, readSettings } from './settings';

const REFERENCE = `\${multiply:4, \${.tp}}`;

const entries = async (text: string): Promise<Setting[]> => {
    const read = await readSettings(text);
    if (!('request' in read)) throw new Error(JSON.stringify(read));
    return read.request.entries ?? [];
};
const brief = async (text: string): Promise<string[]> =>
    (await entries(text)).map(({ key, value, line }) => `${line} ${key} ${JSON.stringify(value)}`);
const problem = async (text: string): Promise<string> => {
    const read = await readSettings(text);
    if (!('problems' in read)) return 'none';
    const [first] = read.problems;
    return `${first?.field} ${first?.rule} ${first?.message.id} ${JSON.stringify(first?.message.args)}`;
};

test.each([
    ['#!/bin/bash\nTP: 8', 'text'],
    ['torchrun --nnodes 4 pretrain_gpt.py \\\n  --num-layers 32', 'text'],
    ['model.tensor_model_parallel_size=8', 'text'],
    ['{\n  "zero_optimization": {"stage": 3}\n}\ndeepspeed train.py', 'text'],
    ['{\n  "zero_optimization": {"stage": 3}\n}\n\n[rank3]: torch.OutOfMemoryError: CUDA out of memory.', 'text'],
    ['{\n  "zero_optimization": {"stage": 3}\n}\n{\n}', 'json'],
    ['# A run\n\n- steps: 2\n\n```bash\npython3 pretrain_gpt.py --num-layers 28\n```\n\n- note:\n', 'text'],
    ['chat_template: |\n  ```\n  x\n  ```\nbase_model: a\n', 'yaml'],
    ['from nemo.collections import llm\nrecipe = llm.llama3_8b.pretrain_recipe(\n  name="x",\n)', 'text'],
    ['# comment\nparallelism:\n  tp: 8\n', 'yaml'],
    ['BEFORE: |\n  export A=1\n  bash x.sh \\\n    --a\nMODEL_ARGS:\n  --num-layers: 32\n', 'yaml'],
    ['    # comment\n    model:\n        num_layers: 32\n', 'yaml'],
    ['  torchrun train.py \\\n    --num-layers 32', 'text'],
    ['[training]\nseq_len = 8192\n', 'toml'],
    ['{"zero_optimization": {"stage": 3}}', 'json'],
    ['# a comment\n{\n "pipe-parallel-size": 4, # stages\n}', 'json'],
    ['kind: Job\nspec:\n  args:\n  - |\n    cat > z3.json <<EOF\n    {}\n    EOF\n', 'yaml'],
    ['---\napiVersion: v1\nargs: |\n  cat <<EOF\n', 'yaml'],
    ['cat <<EOF\napiVersion: v1\nEOF\n', 'text'],
    ['', 'text'],
])('%j is %s', (text, format) => expect(formatOf(text)).toBe(format));

test('YAML: lines, lists, aliases, merges, the later of two equal keys last', async () => {
    const text = [
        'base: &base',
        '  tp: 4 # comment',
        '  pp: 2',
        'parallelism:',
        '  <<: *base',
        '  pp: 8',
        'modules: [mlp, moe_act]',
        'datasets:',
        '  - path: a',
        'length: 500_000',
        'again: 1',
        'again: 2',
        `size: ${REFERENCE}`,
        'off: null',
        '--num-layers: 32',
    ].join('\n');
    expect(await brief(text)).toEqual([
        '2 base.tp 4',
        '3 base.pp 2',
        '2 parallelism.tp 4',
        '3 parallelism.pp 2',
        '6 parallelism.pp 8',
        '7 modules ["mlp","moe_act"]',
        '9 datasets.0.path "a"',
        '10 length 500000',
        '11 again 1',
        '12 again 2',
        `13 size "${REFERENCE}"`,
        '14 off null',
        '15 --num-layers 32',
    ]);
});

test('dates and bytes are the text that stands there', async () => {
    expect(await brief('run: x\nday: 2024-01-02\nat: 2024-01-02T03:04:05+09:00\nkey: !!binary "aGVsbG8="\n')).toEqual([
        '1 run "x"',
        '2 day "2024-01-02"',
        '3 at "2024-01-02T03:04:05+09:00"',
        '4 key "aGVsbG8="',
    ]);
    expect(await brief('[run]\nday = 2024-01-02\nat = 2024-01-02T03:04:05\n')).toEqual([
        '2 run.day "2024-01-02"',
        '3 run.at "2024-01-02T03:04:05.000"',
    ]);
});

test('TOML and JSON: lines of keys', async () => {
    expect(await brief('# x\n[model]\nname = "llama3"\nflavor = "70B"\n\n[training]\nseq_len = 8_192\nconverters = ["float8"]\n')).toEqual([
        '3 model.name "llama3"',
        '4 model.flavor "70B"',
        '7 training.seq_len 8192',
        '8 training.converters ["float8"]',
    ]);
    expect(await brief('{\n\t"zero_optimization": {\n\t\t"stage": 3\n\t},\n\t"bf16": {"enabled": true}\n}')).toEqual([
        '3 zero_optimization.stage 3',
        '5 bf16.enabled true',
    ]);
});

test('objects below each other, as files of gpt-neox are pasted', async () => {
    const text = '{\n  "num_layers": 2, # first\n}\n---\n{\n  "fp16": { "enabled": true },\n}\n';
    expect(await brief(text)).toEqual(['2 num_layers 2', '6 fp16.enabled true']);
    expect(await readSettings('{\n  "a": 1,\n}\n{\n  "b": [1,\n')).toHaveProperty('problems');
});
test('JSON with comments, a comma at its end and True', async () => {
    expect(await brief('# x\n{\n  "num-layers": 44, # all\n  "flag": True,\n}\n')).toEqual(['3 num-layers 44', '4 flag true']);
});

test('a script goes to the core as it is', async () => {
    expect(await readSettings('torchrun x.py', { TP: '8' })).toEqual({ request: { text: 'torchrun x.py', set: { TP: '8' } } });
});

test('a script that writes its settings is a script', async () => {
    const script = "cat > t.yaml <<'EOF'\nmodel: a\nbatch: 2\nEOF\nrun t.yaml\n";
    expect(await readSettings(script)).toEqual({ request: { text: script, set: {} } });
    expect(formatOf('a: 1\nmerged:\n  <<: *base\n')).toBe('yaml');
});

test('what cannot be read is said with its place', async () => {
    expect(await problem('a: 1\nb: [1, 2\nc: 3\n')).toMatch(/^text syntax problem\.import_syntax \{"format":"YAML","line":[23],/);
    expect(await problem('[a]\nb = = 1\n')).toMatch(/^text syntax problem\.import_syntax \{"format":"TOML","line":2,/);
    expect(await problem('{\n "a": [1,\n}')).toBe('text syntax problem.import_syntax {"format":"JSON","line":3,"column":1}');
    expect(await brief('kind: Service\nport: 1\n---\nkind: PyTorchJob\nspec:\n  runs: 2\n')).toEqual([
        '4 kind "PyTorchJob"',
        '6 spec.runs 2',
    ]);
    expect(await problem('kind: Job\n---\nkind: Job\n')).toBe('text documents problem.import_documents {"count":2}');
    expect(await problem('a: 1\n---\na: 2\n')).toBe('text documents problem.import_documents {"count":2}');
});

test('what grows without end is refused', async () => {
    const bomb = ['a0: &a0 [{x: 1}, {x: 1}]', ...Array.from({ length: 30 }, (_, i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}]`)].join('\n');
    expect(await problem(bomb)).toBe('text too_large problem.import_too_much {"most":20000}');
    expect(await problem('a: &a\n  b: *a\n')).toBe('text too_large problem.import_too_much {"most":20000}');
    expect(await problem(`a: ${'['.repeat(60)}{x: 1}${']'.repeat(60)}`)).toBe('text too_large problem.import_too_much {"most":20000}');
    expect(await problem(`a:\n  b: ${'['.repeat(900)}${']'.repeat(900)}`)).toBe('text too_large problem.import_too_much {"most":20000}');
    expect(await problem(`{"a": ${'['.repeat(60)}{}${']'.repeat(60)}}`)).toBe('text too_large problem.import_too_much {"most":20000}');
    expect(await problem(`a: ${'{b: '.repeat(200_000)}`)).toBe('text too_large problem.import_too_much {"most":20000}');
    expect(await problem(`a: ${'x'.repeat(999_994)}é€😀`)).toBe('text too_large problem.too_large {"size":1000006,"most":1000000}');
});

// The core's own list of what it wrote is what these libraries find in the text: no number becomes a text, no word a truth.
test.each([
    [
        'torchtitan',
        'toml',
        [
            'model.name "llama3"',
            'model.flavor "70B"',
            'training.seq_len 8192',
            'training.local_batch_size 512',
            'training.global_batch_size 1024',
            'training.mixed_precision_param "bfloat16"',
            'training.mixed_precision_reduce "float32"',
            'parallelism.pipeline_parallel_microbatch_size 1',
            'parallelism.data_parallel_replicate_degree 1',
            'parallelism.data_parallel_shard_degree 2',
            'parallelism.fsdp_reshard_after_forward "never"',
            'parallelism.tensor_parallel_degree 8',
            'parallelism.context_parallel_degree 1',
            'parallelism.pipeline_parallel_degree 4',
            'parallelism.pipeline_parallel_schedule "Interleaved1F1B"',
            'parallelism.pipeline_parallel_layers_per_stage 4',
            'parallelism.pipeline_parallel_first_stage_less_layers 0',
            'parallelism.pipeline_parallel_last_stage_less_layers 0',
            'activation_checkpoint.mode "none"',
        ],
    ],
    [
        'nanotron',
        'yaml',
        [
            'parallelism.dp 2',
            'parallelism.tp 8',
            'parallelism.pp 4',
            'parallelism.context_parallel_size 1',
            'parallelism.pp_engine "1f1b"',
            'parallelism.tp_mode "REDUCE_SCATTER"',
            'parallelism.tp_linear_async_communication false',
            'parallelism.recompute_layer false',
            'tokens.sequence_length 8192',
            'tokens.micro_batch_size 1',
            'tokens.batch_accumulation_per_replica 512',
            'optimizer.zero_stage 1',
            'optimizer.accumulate_grad_in_fp32 true',
            'model.dtype "bfloat16"',
            'model.model_config.is_llama_config true',
            'model.model_config.hidden_size 8192',
            'model.model_config.intermediate_size 28672',
            'model.model_config.max_position_embeddings 131072',
            'model.model_config.num_attention_heads 64',
            'model.model_config.num_hidden_layers 80',
            'model.model_config.num_key_value_heads 8',
            'model.model_config.tie_word_embeddings false',
            'model.model_config.vocab_size 128256',
        ],
    ],
    [
        'accelerate',
        'yaml',
        [
            'compute_environment "LOCAL_MACHINE"',
            'num_processes 64',
            'num_machines 8',
            'main_process_port 29500',
            'distributed_type "FSDP"',
            'fsdp_config.fsdp_version 2',
            'fsdp_config.fsdp_auto_wrap_policy "TRANSFORMER_BASED_WRAP"',
            'fsdp_config.fsdp_reshard_after_forward true',
            'fsdp_config.fsdp_activation_checkpointing false',
            'mixed_precision "bf16"',
            'parallelism_config.parallelism_config_tp_size 8',
            'parallelism_config.parallelism_config_dp_shard_size 8',
        ],
    ],
    [
        'deepspeed',
        'json',
        [
            'train_micro_batch_size_per_gpu 1',
            'gradient_accumulation_steps 128',
            'zero_optimization.stage 1',
            'zero_optimization.overlap_comm true',
            'bf16.enabled true',
            'data_types.grad_accum_dtype "fp32"',
            'tensor_parallel.autotp_size 8',
        ],
    ],
] as const)('what is written for %s is read as it was meant', async (name, format, wanted) => {
    const { text } = goodOf('export_plan', `export-${name}`);
    expect(formatOf(text)).toBe(format);
    expect((await entries(text)).map(({ key, value }) => `${key} ${JSON.stringify(value)}`)).toEqual(wanted);
});
