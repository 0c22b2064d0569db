// The program without Node (web/src/native) says what the package's command line says, letter by letter, with the same exit status.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after, before } from 'node:test';
import { fileURLToPath } from 'node:url';
import { differences } from './golden.mjs';
import { root } from './module.mjs';

const top = fileURLToPath(root);
const NATIVE = [join(top, 'build/release/fourfold')];
const PACKAGE = [process.execPath, join(top, 'build/package/cli.js')];
const JOB = '--model llama-3.1-8b --gpu h100-sxm-80gb --gpus 8';
const TOO_LARGE = '--model llama-3.1-70b --gpu h100-sxm-80gb --gpus 8';
const OPEN = '--model llama-3.1-8b --gpus 64 --seq 4096'; // what a script may leave open
const MIXED = 'pools --model llama-3.1-8b --gpu a100-sxm-80gb --gpus 8 --global_batch 512 --pools h100-sxm-80gb_8';
const PHASES = `phases ${JOB} --phases 1e11_8192_4194304_64,1e10_32768_4194304_64`;
const PLACE = 'place --links links.json --seconds 0.2 --model llama-3.1-70b --gpus 32 --tp 8 --pp 2 --cp 1';

let folder;
const FIXTURES = ['import_script', 'import_settings', 'read_log'];
const fixtures = (kind) => readdirSync(join(top, 'tests/fuzz/corpus', kind)).map((name) => `${kind}/${name}`);

before(() => {
    folder = mkdtempSync(join(tmpdir(), 'fourfold-native-'));
    for (const kind of FIXTURES) cpSync(join(top, 'tests/fuzz/corpus', kind), join(folder, kind), { recursive: true });
    const write = (name, text) => writeFileSync(join(folder, name), text);
    const names = ['a', 'b', 'c', 'd'];
    const rates = names.map((_, i) => names.map((__, j) => (i === j ? null : i % 2 === j % 2 ? 100 : 1)));
    write('links.json', JSON.stringify({ nodes: names, gbyte_per_s: rates }));
    write('job.json', '{"model": "llama-3.1-8b", "gpus": 8}');
    write('marked.json', '\ufeff{"model": "llama-3.1-8b", "gpus": 8}');
    write('broken.json', '{"model": "llama-3.1-8b",\n "gpus": 8');
    write('deepspeed.json', '{"zero_optimization": {"stage": 3},\n "train_batch_size": 64,\n "bf16": {"enabled" true}}');
    write('bytes.json', Buffer.from('7b226d6f64656c223a22ff20e38178f09f98eda080c0aff4908061c3a9f09f9880f09f227d', 'hex'));
    mkdirSync(join(folder, 'a folder'));
});
after(() => rmSync(folder, { recursive: true, force: true }));

// What a command line comes to: {status, out, err}.
function call([command, ...first], words, { input = '', env = {} } = {}) {
    return new Promise((resolve, reject) => {
        const said = { out: '', err: '' };
        const child = spawn(command, [...first, ...words], { cwd: folder, env: { ...process.env, LANG: 'C', LC_ALL: 'C', ...env } });
        for (const [name, stream] of [['out', child.stdout], ['err', child.stderr]]) {
            stream.setEncoding('utf8').on('data', (text) => {
                said[name] += text;
            });
        }
        child.stdin.on('error', () => {}); // who does not read it closes it
        child.stdin.end(input);
        child.on('error', reject).on('close', (status) => resolve({ status, ...said }));
    });
}
const wordsOf = (line) => (typeof line === 'string' ? line.split(' ').filter(Boolean) : line);
const both = (line, more) => Promise.all([PACKAGE, NATIVE].map((program) => call(program, wordsOf(line), more)));

async function same(line, more) {
    const [wanted, got] = await both(line, more);
    assert.deepEqual(got, wanted, wordsOf(line).join(' '));
    return got;
}

// Side by side: most of the time goes into starting Node.
async function each(list, ask) {
    const left = [...list];
    const next = async () => {
        for (let one = left.shift(); one !== undefined; one = left.shift()) await ask(one);
    };
    await Promise.all(Array.from({ length: availableParallelism() }, next));
}

test('every command answers the same, in every language', async () => {
    const long = [`fit ${TOO_LARGE}`, `best ${OPEN} --top 3`, `limits ${JOB} --days 30`, MIXED, PHASES];
    const spoken = ['en', 'ja', 'zh'].flatMap((language) => long.map((line) => `${line} --lang ${language}`));
    const formats = ['megatron', 'sbatch', 'torchtitan', 'deepspeed'].map((format) => `export --to ${format} ${OPEN}`);
    const others = [`fit ${JOB}`, 'fit --model google/gemma-2-2b', 'models', 'gpus', 'clusters', `best --csv ${JOB}`, PLACE, `${PLACE} --file hostfile`];
    await each([...spoken, ...formats, ...others], async (line) => {
        const { out } = await same(line);
        assert.ok(out.length > 20, line);
    });
    await same(`fit ${JOB}`, { env: { LC_ALL: '', LANG: 'ja_JP.UTF-8' } });
});

test('help and what is wrong are the same', async () => {
    const helps = ['', 'help', '--version', 'fti', 'fit --help', 'place --help --lang zh', 'help export --lang ja'];
    const bad = ['best --top many', 'export --to other', 'place', 'why', 'phases --phases x', 'gpus job.json'];
    await each([...helps, ...bad], (line) => same(line));
    const wrong = ['--gpus 0 --tensor-paralel 8 --attention flsh --micro-batch', '--jsn', '--tp 3', '--lang xx', '--model gemma'];
    await each([...wrong, 'missing.json', 'broken.json', 'deepspeed.json', 'bytes.json'], async (words) => {
        assert.equal((await same(`fit ${words}`)).status, 2);
    });
    assert.equal((await same(['fit', 'a folder'])).status, 2);
    assert.equal((await same(['fit', '--model', 'ラマ “😀”'])).status, 2);
});

test('what is read comes to the same: jobs, links, scripts, recipes, logs', async () => {
    for (const name of ['job.json', 'marked.json']) assert.equal((await same(`fit ${name}`)).status, 0);
    const link = '?v=2&model=llama-3.1-8b&gpus=8&fbclid=1&odd=%E3%81%82%ff+x';
    assert.equal((await same(['fit', `https://example.org/${link}#best`])).status, 0);
    for (const input of [`${link}\n`, '{"gpus": 16}', '\ufeff{"gpus": 16}']) assert.equal((await same('fit -', { input })).status, 0);
    assert.equal((await same('fit - --gpus 8', { input: '' })).status, 2);
    const some = (kind) => fixtures(kind).filter((_, i) => i % 4 === 0);
    const settings = [...fixtures('import_script'), ...some('import_settings')].map((name) => `fit ${name} ${OPEN}`);
    await each([...settings, ...some('read_log').map((name) => `why ${name} ${OPEN}`)], (line) => same(line));
});

test('answers for programs are the same but for the last bits of a number', async () => {
    const jobs = [`fit ${JOB}`, `fit ${TOO_LARGE}`, `best ${OPEN}`, `limits ${JOB} --days 30`, `export ${OPEN}`];
    const lines = [...jobs, 'fit --model mistral-nemo', 'models', MIXED, PHASES, 'fit --tp 3.5'];
    await each(lines, async (line) => {
        const [wanted, got] = await both(`${line} --json`);
        assert.deepEqual(differences(JSON.parse(wanted.out), JSON.parse(got.out)), [], line);
        assert.deepEqual([got.status, got.err], [wanted.status, wanted.err], line);
    });
});

test('on a terminal: colours and progress', () => {
    const onTerminal = (program) =>
        spawnSync('script', ['-qec', [...program, 'fit', ...wordsOf(JOB)].map((word) => `'${word}'`).join(' '), '/dev/null'], {
            encoding: 'utf8',
            env: { ...process.env, NO_COLOR: '' },
        }).stdout;
    const said = onTerminal(NATIVE);
    assert.match(said, /^\r\u001b\[K[^\r]+\r\u001b\[K\u001b\[32m/);
    assert.equal(said, onTerminal(PACKAGE));
});

test('it needs no Node, and a reader that closes the pipe is no fault', () => {
    const alone = spawnSync(NATIVE[0], ['fit', ...wordsOf(JOB)], { encoding: 'utf8', env: {} });
    assert.equal(alone.status, 0, alone.stderr);
    assert.match(alone.stdout, / fits: /);
    const piped = spawnSync('bash', ['-c', `'${NATIVE[0]}' fit --help | true; echo "\${PIPESTATUS[0]}"`], { encoding: 'utf8' });
    assert.deepEqual([piped.stdout, piped.stderr], ['0\n', '']);
    assert.equal(spawnSync('bash', ['-c', `'${NATIVE[0]}' fit --help >/dev/full`]).status, 2);
});
