import { expect, test } from 'vitest';
import { goodOf } from '../shared/test-data';
import { changedLines as changedIn } from './changed-lines';

const lines = (...all: string[]): string => all.join('\n');
const said = (...keys: string[]) => keys.map((key) => ({ key }));
// Of a reader's file that says all of the first one.
const changedLines = (from: string, to: string): string => changedIn(from, to, said(...(from.match(/[\w.-]+/g) ?? [])));

test('a script: lines of only one text, with a sign; what its indentation and its line ends say is left out', () => {
    expect(changedLines('--a 1\n  --b 2 \\\n--c\n', '  --a 1 \\\n--b 3\n--d\n--c')).toBe('- --b 2\n+ --b 3\n+ --d');
    expect(changedLines('same\n', 'same')).toBe('');
});

test('TOML: below the section', () => {
    const from = lines('[training]', 'seq_len = 8192', '', '[parallelism]', 'tp = 8', 'pp = 1', '', '[old]', 'x = 1');
    const to = lines('[training]', 'seq_len = 8192', '', '[parallelism]', 'tp = 4', 'pp = 1', 'cp = 2', '', '[new]', 'y = 2');
    expect(changedLines(from, to)).toBe(
        lines('  [parallelism]', '- tp = 8', '+ tp = 4', '+ cp = 2', '- [old]', '- x = 1', '+ [new]', '+ y = 2'),
    );
});

test('what the reader’s own file leaves to a default is not taken out of it', () => {
    const from = lines('[parallelism]', 'tp = 8', 'pp = 1', 'less = 0', '', '[old]', 'x = 1');
    const to = lines('[parallelism]', 'tp = 4', 'pp = 2');
    expect(changedIn(from, to, said('parallelism.tp'))).toBe(lines('  [parallelism]', '- tp = 8', '+ tp = 4', '+ pp = 2'));
    expect(changedIn('--a-b 1\n--c 2', '--a-b 2', said('--a-b'))).toBe('- --a-b 1\n+ --a-b 2');
});

test('YAML: the same key of two sections is two keys', () => {
    const from = lines('a:', '  on: true', '  b:', '    tp: 8', 'c:', '  on: true');
    const to = lines('a:', '  on: true', '  b:', '    tp: 4', 'c:', '  on: false');
    expect(changedLines(from, to)).toBe(lines('  a:', '    b:', '-     tp: 8', '+     tp: 4', '  c:', '-   on: true', '+   on: false'));
});

test('JSON: a comma is no change, and a new section is closed', () => {
    const from = lines('{', '    "stage": 1,', '    "bf16": {', '        "enabled": true', '    }', '}');
    const to = lines(
        '{',
        '    "stage": 1,',
        '    "bf16": {',
        '        "enabled": true,',
        '        "x": 1',
        '    },',
        '    "tp": {',
        '        "size": 8',
        '    }',
        '}',
    );
    expect(changedLines(from, to)).toBe(
        lines('      "bf16": {', '+         "x": 1', '      }', '+     "tp": {', '+         "size": 8', '+     }'),
    );
});

test('what is taken out stands as the reader’s own file has it; what that has already is not added', () => {
    const toml = (degree: number) => lines('[parallelism]', `shard = ${degree}`, 'name = "a"');
    const shard = { key: 'parallelism.shard', value: '-1' };
    expect(changedIn(toml(8), toml(4), [shard])).toBe(lines('  [parallelism]', '- shard = -1', '+ shard = 4'));
    expect(changedIn(toml(4), toml(4), [shard])).toBe('');
    const name = { key: 'parallelism.name', value: 'b' };
    expect(changedIn(toml(4), toml(4).replace('"a"', '"c"'), [name])).toBe(lines('  [parallelism]', '- name = "b"', '+ name = "c"'));
    // a default that the file says, which a file written anew leaves out
    const flags = [
        { key: '--tp', value: '1' },
        { key: '--sp', value: 'true' },
    ];
    expect(changedIn('--bf16', '--tp 4\n--sp\n--bf16', flags)).toBe(lines('- --tp 1', '+ --tp 4'));
    const section = { key: 'ac.mode', value: 'none' };
    expect(changedIn('', '[ac]\nmode = "full"', [section])).toBe(lines('  [ac]', '- mode = "none"', '+ mode = "full"'));
});

test('what is held is said where the reader’s file does not say it, or says it otherwise', () => {
    const text = lines('[training]', 'global = 16');
    expect(changedIn(text, text, [], /^global/)).toBe(lines('  [training]', '+ global = 16'));
    expect(changedIn(text, text, [{ key: 'training.global', value: '16' }], /^global/)).toBe('');
    const open = { key: 'training.global', value: '-1' };
    expect(changedIn(text, text, [open], /^global/)).toBe(lines('  [training]', '- global = -1', '+ global = 16'));
    expect(changedIn(text, text, [open])).toBe('');
});

// The goldens are one plan, so a number changed by hand is the only difference.
test.each([
    ['export-70b', '--tensor-model-parallel-size 8', '4', '- --tensor-model-parallel-size 8\n+ --tensor-model-parallel-size 4'],
    [
        'export-bridge',
        'model.tensor_model_parallel_size=8',
        '4',
        '- model.tensor_model_parallel_size=8\n+ model.tensor_model_parallel_size=4',
    ],
    [
        'export-nemo2',
        'trainer.strategy.tensor_model_parallel_size=8',
        '4',
        '- trainer.strategy.tensor_model_parallel_size=8\n+ trainer.strategy.tensor_model_parallel_size=4',
    ],
    ['export-torchtitan', 'tensor_parallel_degree = 8', '4', '  [parallelism]\n- tensor_parallel_degree = 8\n+ tensor_parallel_degree = 4'],
    ['export-nanotron', 'tp: 8', '4', '  parallelism:\n-   tp: 8\n+   tp: 4'],
    ['export-deepspeed', '"stage": 1', '2', '      "zero_optimization": {\n-         "stage": 1\n+         "stage": 2\n      }'],
    [
        'export-accelerate',
        'parallelism_config_tp_size: 8',
        '4',
        '  parallelism_config:\n-   parallelism_config_tp_size: 8\n+   parallelism_config_tp_size: 4',
    ],
])('%s: one value changed is one change', (name, line, value, wanted) => {
    const { text } = goodOf('export_plan', name);
    expect(text).toContain(line);
    expect(changedLines(text, text.replace(line, line.replace(/\d$/, value)))).toBe(wanted);
});
