import { expect, test } from 'vitest';
import { joinedFiles } from './several';

const script = { name: 'run.sh', text: '#!/bin/bash\naccelerate launch --config_file configs/fsdp.yaml train.py\n' };
const yaml = { name: 'configs/fsdp.yaml', text: 'num_processes: 8\n' };
const heredoc = `cat > 'fsdp.yaml' <<'FOURFOLD_END_OF_FILE'\nnum_processes: 8\nFOURFOLD_END_OF_FILE\n`;

test('a script and what it names are one text, in any order', () => {
    expect(joinedFiles([script, yaml])).toEqual([{ name: 'run.sh, configs/fsdp.yaml', text: heredoc + script.text }]);
    expect(joinedFiles([yaml, script])[0]?.text).toBe(heredoc + script.text);
    const python = { name: 'train.py', text: 'args = TrainingArguments(bf16=True)\n' };
    expect(joinedFiles([python, yaml, script])[0]?.text.endsWith(script.text)).toBe(true);
});

test('configurations of gpt-neox stand one below the other; one file, and files of which none is a script, stay alone', () => {
    const [a, b] = ['{"x": 1}', '{"y": 2}'].map((text, i) => ({ name: `${i}.yml`, text: `${text}\n` })) as [typeof yaml, typeof yaml];
    expect(joinedFiles([a, b])).toEqual([{ name: '0.yml, 1.yml', text: '{"x": 1}\n{"y": 2}' }]);
    expect(joinedFiles([script])).toEqual([script]);
    const other = { ...yaml, name: 'other.yaml' };
    expect(joinedFiles([yaml, other])).toEqual([yaml, other]);
});
