import { afterAll, beforeEach, expect, test } from 'vitest';
import type { Fourfold, Text } from '../core/api';
import { formatFor } from '../format/format';
import { catalog, goodOf, refusalOf } from '../shared/test-data';
import { speak, tell } from '../words/words';
import type { Io } from './asked';
import { run } from './run';

afterAll(async () => {
    await speak('en');
    formatFor('en', 'en');
});

let asked: [string, string][] = [];
let answers: Record<string, unknown> = {};
const core = new Proxy({} as Fourfold, {
    get: (_, name: string) => (text: string) => {
        if (name === 'catalog') return JSON.stringify(catalog);
        asked.push([name, text]);
        const answer = answers[name];
        return JSON.stringify(typeof answer === 'function' ? answer(text) : answer);
    },
});
const files: Record<string, string> = { 'job.json': '{"gpus": 16, "zero": "none"}', 'odd.txt': 'x', 'log.txt': 'CUDA out of memory' };

beforeEach(() => {
    asked = [];
    answers = {
        estimate: goodOf('estimate', 'default'),
        rank: goodOf('rank', 'rank-70b'),
        export_plan: goodOf('export_plan', 'export-70b'),
        import_plan: refusalOf('bad-request'),
        read_run: refusalOf('run-unknown'),
        find_models: { ok: true, version: 2, match: 'none', models: [] },
    };
});

async function call(line: string, more: Partial<Io> = {}) {
    let [out, err] = ['', ''];
    const io: Io = {
        out: (text) => {
            out += text;
        },
        err: (text) => {
            err += text;
        },
        read: (name) => {
            const text = files[name];
            if (text === undefined) throw new Error(name);
            return text;
        },
        now: () => 0,
        colours: false,
        live: false,
        language: 'C',
        version: '1.2.3',
        ...more,
    };
    const status = await run(line.split(' ').filter(Boolean), io, core);
    return { status, out, err };
}

test('an option counts more than the file, and only what was given is asked', async () => {
    const { status } = await call('fit job.json --gpus 8 --seq 8k --tensor-parallel 2');
    expect(status).toBe(0);
    expect(asked).toEqual([['estimate', '{"gpus":8,"zero":"none","sequence_length":8192,"tensor_parallel":2}']]);
});

test('JSON is the answer of the core as it is', async () => {
    expect(await call('fit --json')).toEqual({ status: 0, out: `${JSON.stringify(answers.estimate)}\n`, err: '' });
    answers.estimate = refusalOf('bad-request');
    expect(await call('fit --json')).toEqual({ status: 2, out: `${JSON.stringify(answers.estimate)}\n`, err: '' });
});

test('what does not fit, and what is at risk, ends with 1', async () => {
    for (const fit of ['does_not_fit', 'at_risk']) {
        const refused = refusalOf('bad-request');
        answers = { estimate: { ...goodOf('estimate', 'default'), class: fit }, alternatives: refused, limits: refused };
        expect((await call('fit')).status).toBe(1);
    }
});

test('what to change first is what is enough, the fewest GPUs before all; others only where nothing is', async () => {
    const [others, limits] = [goodOf('alternatives', 'alternatives-70b'), goodOf('limits', 'limits-70b')];
    const changes = [
        { ...others.changes[0], label: { id: 'change.gpus', args: { value: 16 } }, set: { gpus: 16 }, class: 'does_not_fit' },
        { ...others.changes[0], label: { id: 'change.moments_16_bit' }, set: {}, class: 'does_not_fit' },
        { ...others.changes[0], label: { id: 'change.adapters' }, set: {}, class: 'fits' },
    ];
    answers = { estimate: { ...goodOf('estimate', 'default'), class: 'does_not_fit' }, alternatives: { ...others, changes }, limits };
    const listed = async () =>
        (await call('fit')).out
            .split('Change this first\n')[1]
            ?.split('\n')
            .map((row) => row.trim());
    expect(limits.fewest_gpus?.gpus).toBe(22);
    expect(await listed()).toEqual([
        expect.stringMatching(/^Use 22 GPUs +[\d.]+ GB, fits +The smallest number of GPUs on which it fits with no other change\.$/),
        expect.stringMatching(/^Train small additions alone \(LoRA\) +[\d.]+ GB, fits$/),
        '',
    ]);
    answers.limits = { ...limits, fewest_gpus: null };
    expect(await listed()).toEqual([expect.stringMatching(/^Train small additions/), '']);
    answers.alternatives = { ...others, changes: changes.slice(0, 2) };
    expect(await listed()).toEqual([expect.stringMatching(/^Use 16 GPUs .*not fit$/), expect.stringMatching(/^Adam.*not fit$/), '']);
});

test('a change that makes the search choose another plan says which', async () => {
    const [others, limits] = [goodOf('alternatives', 'alternatives-70b'), goodOf('limits', 'limits-70b')];
    const plan = limits.fewest_gpus?.plan;
    const [one] = others.changes;
    const changes = [
        { ...one, label: { id: 'change.moments_16_bit' }, set: {}, class: 'fits', plan },
        { ...one, label: { id: 'change.fused_norms' }, set: {}, class: 'fits', plan: null },
    ];
    answers = {
        estimate: { ...goodOf('estimate', 'default'), class: 'does_not_fit' },
        alternatives: { ...others, changes },
        limits: { ...limits, fewest_gpus: null },
    };
    const rows = (await call('fit')).out.split('\n');
    expect(rows.find((row) => row.includes('16 bits'))).toMatch(/fits +The plan is then tensor \d+ · pipeline \d+ · .*\.$/);
    expect(rows.find((row) => row.includes('Fused norms'))).toMatch(/fits$/);
});

test('what is too much never reads as what still fits', async () => {
    const estimate = goodOf('estimate', 'default');
    const over = estimate.line_share * estimate.card_bytes + 2 ** 24; // 16 MiB
    const refused = refusalOf('bad-request');
    answers = { estimate: { ...estimate, class: 'at_risk', whole_bytes: over }, alternatives: refused, limits: refused };
    const [, used, line] = /^Memory +([\d.]+) of 80 GB .* up to ([\d.]+) GB fit$/m.exec((await call('fit')).out) ?? [];
    expect(Number(used)).toBeGreaterThan(Number(line));
});

test('links in a unit of the reader’s; every unknown name is refused', async () => {
    files['links.txt'] = '0 1\n1 0';
    answers.read_links = refusalOf('bad-request');
    await call('place --links links.txt --unit gbit_per_s');
    expect(asked.find(([name]) => name === 'read_links')?.[1]).toBe('{"text":"0 1\\n1 0","unit":"gbit_per_s"}');
    expect((await call('place --help')).out).toContain('gbit_per_s');
    const { status, err } = await call('phases --phases 1e12_8192_4194304_64;frobnicate=true');
    expect([status, err]).toEqual([2, '--phases: “frobnicate” is not a field that Fourfold knows.\n']);
});

test('where more models are meant than are named, all of them are pointed at', async () => {
    const [problem] = refusalOf('bad-request').problems;
    const several = (count: number) => ({
        ...refusalOf('bad-request'),
        problems: [{ ...problem, field: 'model', rule: 'range', nearest: 'a', candidates: Array.from({ length: count }, () => 'a') }],
    });
    answers.estimate = several(6);
    expect((await call('fit --model llama')).err).toContain('fourfold models');
    answers.estimate = several(2);
    expect((await call('fit --model llama')).err).not.toContain('fourfold models');
});

test('colours only in a terminal, and beside words', async () => {
    const plain = (await call('fit')).out;
    const [first = '', ...rest] = plain.split('\n');
    expect(plain).not.toContain('\u001b');
    expect(first).toContain(' fits: ');
    expect((await call('fit', { colours: true })).out).toBe([`\u001b[32m${first}\u001b[0m`, ...rest].join('\n'));
});

test('who watches sees that it works, and nothing of it stays', async () => {
    expect((await call('best')).err).toBe('');
    expect((await call('best', { live: true })).err).toBe('\r\u001b[KComputing…\r\u001b[K');
});

test('problems stand under the option as it was typed', async () => {
    answers.estimate = refusalOf('bad-request');
    answers.import_plan = { ok: false, version: 2, problems: [] };
    const { status, out, err } = await call('fit --mb 1.5 --tensor-paralel 2 missing.json odd.txt');
    expect([status, out]).toEqual([2, '']);
    expect(err.split('\n').slice(0, 3)).toEqual([
        'The file “missing.json” cannot be read. Check its name.',
        '“odd.txt” is no job as JSON, no link of the page, no config.json, no launch script and no recipe. Give one of these.',
        '--model: There is no model “lama-3.1-8b” here. Did you mean llama-3.1-8b?',
    ]);
    expect(err).toContain('\n--mb: ');
    expect(err).toContain('\n--tensor-paralel: “tensor_paralel” is not a field that Fourfold knows. Did you mean tensor_parallel?\n');
});

test('a model that the catalogue lacks is taken by its name; of words that several have, each is named', async () => {
    answers.find_models = goodOf('find_models', 'find-models');
    await call('fit --model gemma-2b --gpus 8');
    const [gemma] = goodOf('find_models', 'find-models').models;
    expect(asked.at(-1)).toEqual(['estimate', JSON.stringify({ model: gemma?.model, gpus: 8 })]);
    asked = [];
    await call('fit --model llama-3.1-8b');
    expect(asked.map(([name]) => name)).toEqual(['estimate']); // the catalogue has it
    answers.find_models = { ...goodOf('find_models', 'find-models'), match: 'words' };
    answers.estimate = refusalOf('bad-request');
    const { status, err } = await call('fit --model gemma');
    expect(status).toBe(2);
    expect(asked.findLast(([name]) => name === 'estimate')).toEqual(['estimate', '{"model":"gemma"}']);
    expect(err).toContain('\nOther models with such a name: gemma-2b, gemma-2-2b.\n');
});

test('without a script what --set gives is an option of that name', async () => {
    await call('fit --set framework=transformers --gpus 8 --set tp=2');
    expect(asked.at(-1)).toEqual(['estimate', JSON.stringify({ gpus: 8, framework: 'transformers', tensor_parallel: 2 })]);
    answers.estimate = refusalOf('bad-request');
    const { status, err } = await call('fit --set framework');
    expect(status).toBe(2);
    expect(err).toContain('--set framework');
});

test('the list of models has those too that the catalogue lacks', async () => {
    answers.find_models = goodOf('find_models', 'find-models');
    const { out } = await call('models');
    expect(out).toMatch(/^llama-3.1-8b +Llama 3.1 8B/m);
    expect(out).toMatch(/^gemma-2-2b +Gemma 2 2B +2.61 billion$/m);
});

test('a flag takes no value, an option needs one', async () => {
    expect((await call('fit --json=no --gpus')).err).toBe(
        '--json takes no value. Leave the value out.\n--gpus: a value is missing. Write it behind the option.\n',
    );
});

test('a link that knows more than this version says so and is used', async () => {
    const { status, err } = await call('fit ?v=9&gpus=16&other=1');
    expect(status).toBe(0);
    expect(err).toBe(
        'The link has parts that Fourfold does not know. They are ignored: other.\n' +
            'A newer version of the page made this link. Some of it may be missing.\n',
    );
    expect(JSON.parse(asked[0]?.[1] ?? '')).toMatchObject({ gpus: 16 });
});

test('the language of the option, else of the system; help and version', async () => {
    expect((await call('fit', { language: 'ja_JP.UTF-8' })).out).toContain('メモリ');
    expect((await call('fit --lang zh', { language: 'ja_JP.UTF-8' })).out).toContain('显存');
    expect((await call('fit --lang xx')).status).toBe(2);
    expect(await call('--version')).toEqual({ status: 0, out: '1.2.3\n', err: '' });
    expect((await call('best --help')).out).toContain('\n  --top      How many plans to list (10).\n');
    expect((await call('help best')).out).toBe((await call('best --help')).out);
    expect((await call('')).status).toBe(2);
});

test('a plan is written once all of it is chosen, as it was asked for', async () => {
    const { status, out, err } = await call('export job.json --to sbatch --release 0.12 --hosts a,b');
    expect(status).toBe(0);
    expect(asked.map(([name]) => name).slice(0, 2)).toEqual(['estimate', 'export_plan']);
    expect(asked[0]?.[1]).toBe('{"gpus":16,"zero":"none"}');
    const { job } = goodOf('estimate', 'default');
    expect(JSON.parse(asked[1]?.[1] ?? '')).toEqual({ ...job, format: 'sbatch', release: '0.12', hosts: ['a', 'b'] });
    expect(out).toBe(goodOf('export_plan', 'export-70b').text);
    expect(err).toContain('Fill in before you start: ');
    expect((await call('export --help')).out).toContain('--to       For which framework to write: megatron, sbatch, ');
});

test('a plan that does not fit is written, and that is said', async () => {
    expect((await call('export job.json')).err).not.toContain('does not fit');
    answers.estimate = { ...goodOf('estimate', 'default'), class: 'does_not_fit' };
    const { status, out, err } = await call('export job.json');
    expect([status, out]).toEqual([0, goodOf('export_plan', 'export-70b').text]);
    expect(err).toContain('does not fit');
});

test('what the written file needs where it runs is told, where that is too much', async () => {
    const [fits, text] = [goodOf('estimate', 'default'), goodOf('export_plan', 'export-nanotron')];
    answers.export_plan = text;
    const there = { ...fits, class: 'does_not_fit', whole_bytes: 92.5 * 2 ** 30 };
    answers.estimate = (job: string) => (JSON.parse(job).framework === text.framework ? there : fits);
    expect((await call('export job.json --to nanotron --framework megatron-2025')).err).toContain(
        'As nanotron runs it, this plan does not fit: 92.5 GB of 80.0 GB on the fullest GPU, ',
    );
    answers.estimate = fits;
    expect((await call('export job.json --to nanotron --framework megatron-2025')).err).not.toContain('As nanotron');
});

test('a plan that does not fit where the file is read, or that it cannot say, makes room for one that is found there, and that is said', async () => {
    const [fits, file] = [goodOf('estimate', 'default'), goodOf('export_plan', 'export-deepspeed')];
    const other = { ...fits, job: { ...fits.job, tensor_parallel: 2 } };
    const says = (text: string, left_out: readonly unknown[] = []) => ({ ...file, text, left_out });
    const lacks = (field: string) => ({ id: 'export_plan.field', args: { field: { id: `field.${field}` }, value: 8 } });
    answers.estimate = (job: string) => (JSON.parse(job).pipeline_parallel === 1 ? other : fits);
    const lacking = (job: string) =>
        JSON.parse(job).tensor_parallel === 2 ? says('the other') : says('the one shown', [lacks('pipeline_parallel')]);
    answers.export_plan = lacking;
    const told = await call('export job.json --to deepspeed');
    expect(told.out).toBe('the other\n');
    expect(told.err).toContain('This file is another plan than the one that Fourfold shows for this run: DeepSpeed cannot');
    const jobs = asked.filter(([name]) => name === 'estimate').map(([, text]) => JSON.parse(text));
    expect(jobs[0]).toEqual({ gpus: 16, zero: 'none' }); // as "fit" asks
    const degrees = { tensor_parallel: 1, context_parallel: 1, pipeline_parallel: 1 };
    expect(jobs).toContainEqual({ gpus: 16, zero: 'none', framework: file.framework, ...degrees });
    asked = [];
    await call('export job.json --to deepspeed --tp 2');
    const kept = asked.filter(([name]) => name === 'estimate').map(([, text]) => JSON.parse(text));
    expect(kept).toContainEqual({ gpus: 16, zero: 'none', framework: file.framework, ...degrees, tensor_parallel: 2 });
    answers.export_plan = (job: string) => says(lacking(job).text, [lacks('zero')]); // neither can be said
    expect((await call('export job.json --to deepspeed')).err).not.toContain('another plan');
    answers.export_plan = says('the one shown');
    expect((await call('export job.json --to deepspeed')).err).not.toContain('another plan');
});

test('the list for people has one of the plans that differ only in their chunks', async () => {
    const { out } = await call('best --top 2');
    const ranks = [...out.matchAll(/^ *(\d+) +\d/gm)].map(([, rank]) => Number(rank));
    expect(ranks).toHaveLength(2);
    expect(ranks[1]).toBeGreaterThan(2);
    expect(out).toMatch(
        /^Not listed: \d+ plans, each as fast as one of these, which differ from it only in how the layers are cut into chunks;/m,
    );
});

test('the list for programs: every column and line end as RFC 4180 has it, and for best alone', async () => {
    const { status, out } = await call('best --csv --top 2');
    expect(status).toBe(0);
    expect(out.split('\r\n')).toHaveLength(4);
    expect(out).toMatch(/^rank,.*tensor_parallel \[gpus\],/);
    expect(await call('fit --csv')).toEqual({ status: 2, out: '', err: '“fourfold fit” has no option --csv.\n' });
});

test('a file that starts nothing is told what it is, as the page tells it; a log, what reads it', async () => {
    const none = (id: string, args = {}) => ({
        ...refusalOf('bad-request'),
        problems: [
            { ...refusalOf('bad-request').problems[0], message: { id: `problem.${id}`, args }, suggestion: { id: `suggestion.${id}` } },
        ],
    });
    answers.read_run = refusalOf('run-unknown');
    answers.import_plan = none('import_other', { program: 'verl' });
    expect((await call('fit odd.txt')).err).toBe(
        'odd.txt: This is a file of verl, which is not read. Paste the model’s config.json, and set the GPUs, the sequence length and the batch by hand.\n',
    );
    answers.import_plan = none('import_format');
    expect((await call('fit odd.txt')).err).toMatch(
        /^“odd.txt” is no job as JSON, .* Give one of these\. No known format: too few known keys /,
    );
    answers.read_run = goodOf('read_run', 'run-died');
    expect((await call('fit log.txt')).err).toBe(
        '“log.txt” is what a run printed, not what starts one. “fourfold why log.txt” tells what it means.\n',
    );
});

test('why: the log is told by what it holds, and compared with what is counted for the plan', async () => {
    answers.alternatives = goodOf('alternatives', 'alternatives-70b');
    answers.read_run = goodOf('read_run', 'run-died');
    const { status, out, err } = await call('why log.txt --gpus 16');
    expect(status).toBe(0);
    expect(out).toContain('Why the run died');
    expect(out).toContain('What to change first: ');
    expect(err).toBe('');
    const [, text] = asked.findLast(([name]) => name === 'read_run') ?? ['', '{}'];
    const { counted } = JSON.parse(text);
    const { total_bytes, stage } = goodOf('estimate', 'default');
    expect(counted).toMatchObject({ total_bytes, stage });
});

test('why: of a log alone, nothing is compared, and what to name is asked for', async () => {
    answers.alternatives = goodOf('alternatives', 'alternatives-70b');
    answers.read_run = goodOf('read_run', 'run-died');
    const { status, out, err } = await call('why log.txt --seq 4096');
    expect(status).toBe(0);
    expect(out).toContain('Why the run died');
    expect(out).not.toContain('Compared with');
    expect(err).toContain('nothing names the run. Give the script');
    const { counted } = JSON.parse(asked.findLast(([name]) => name === 'read_run')?.[1] ?? '');
    expect([asked.some(([name]) => name === 'estimate'), counted]).toEqual([false, null]);
    for (const line of ['why log.txt --gpus 8', 'why job.json log.txt']) {
        answers.read_run = (text: string) => (text.includes('out of memory') ? goodOf('read_run', 'run-died') : refusalOf('run-unknown'));
        expect((await call(line)).out).toContain('Compared with the run that the files and options name: Llama 3.1 8B on 8');
    }
});

test('why: the cards of nvidia-smi are told, and whether the run named has others', async () => {
    answers.alternatives = goodOf('alternatives', 'alternatives-70b');
    answers.read_run = goodOf('read_run', 'run-cards');
    expect((await call('why log.txt')).out).toContain('nvidia-smi shows 2\u00a0×\u00a0A100 SXM 40 GB.\n'.replaceAll('\u00a0', ' '));
    expect((await call('why log.txt --gpus 16')).out).toContain('A100 SXM 40 GB: these are not the GPUs of the run here.\n');
});

test('why: a change after which it does not fit is said to be too little', async () => {
    const others = goodOf('alternatives', 'alternatives-70b');
    answers.read_run = goodOf('read_run', 'run-died');
    for (const [fit, words] of [
        ['does_not_fit', /It saves [^\n]*\nEven then it does not fit: [\d.]+ GB in all\. No other change is enough either\.\n/],
        ['at_risk', /It saves [^\n]*\nEven then it may run out of memory: [\d.]+ GB/],
    ] as const) {
        answers.alternatives = { ...others, changes: others.changes.map((one) => ({ ...one, class: fit })) };
        expect((await call('why log.txt --gpus 16')).out).toMatch(words);
    }
    answers.alternatives = others;
    expect(others.changes[0]?.class).toBe('fits');
    expect((await call('why log.txt --gpus 16')).out).not.toContain('Even then');
});

test('why: a run that ended otherwise than by a GPU’s memory', async () => {
    const host = { id: 'problem.read_run.host' };
    const unknown = refusalOf('run-unknown');
    answers.read_run = { ...unknown, problems: [{ ...unknown.problems[0], rule: 'ended', message: host, suggestion: null }] };
    for (const line of ['why log.txt', 'why log.txt --gpus 16']) {
        const { status, out, err } = await call(line);
        expect([status, err]).toEqual([0, '']);
        expect(out).toBe('Why the run died\n\nThe operating system ended the run: the memory of the host was full, not that of a GPU.\n');
    }
});

test('why: without a log it says so', async () => {
    answers.read_run = refusalOf('run-unknown');
    const { status, err } = await call('why job.json');
    expect(status).toBe(2);
    expect(err).toContain('No file holds what a run printed');
});

// A script that says all, of a run that takes `times` as long as the fastest plan.
function slowScript(times: number) {
    const script = goodOf('import_plan', 'import-script');
    const jobs = script.jobs.map((plan) => ({
        ...plan,
        asked: [],
        keys: plan.keys.filter(({ fate }) => fate === 'used'),
        job: { ...plan.job, model: 'llama-3.1-70b' },
    }));
    const ranked = goodOf('rank', 'rank-70b');
    const [fastest = 0] = ranked.plans.step_seconds ?? [];
    answers.import_plan = { ...script, jobs };
    answers.estimate = { ...goodOf('estimate', 'llama-70b-64-h100'), step_seconds: times * fastest };
    answers.rank = ranked;
    files['run.sh'] = 'torchrun pretrain_gpt.py';
}

test('fit: a script is told the fastest plan on the same GPUs, in text and behind the answer', async () => {
    slowScript(2);
    const { status, out } = await call('fit run.sh');
    expect(status).toBe(0);
    expect(out).toContain('\n\nHow fast it is\n\nAs it stands, it fits: ');
    expect(out).toContain('\nOn the same GPUs, ');
    const { faster, ...answer } = JSON.parse((await call('fit run.sh --json')).out);
    expect(answer).toEqual(answers.estimate);
    expect(faster).toMatchObject({ format: 'megatron-lm', left_out: [], said: null, changes: '' });
    expect(faster.plan.step_seconds).toBe(goodOf('rank', 'rank-70b').plans.step_seconds?.[0]);
    expect(asked.findLast(([name]) => name === 'rank')?.[1]).toContain('"tensor_parallel":"auto"');
});

test('fit: a script that is fast already has nothing to change', async () => {
    slowScript(1);
    expect((await call('fit run.sh')).out).toContain('\nNo other plan on the same GPUs is clearly faster.\n');
    expect(JSON.parse((await call('fit run.sh --json')).out).faster).toBe(null);
});

test('fit: a script whose plan cannot be: what is wrong, and which plan can', async () => {
    slowScript(2);
    answers.estimate = refusalOf('broken-rules');
    const { status, out, err } = await call('fit run.sh');
    expect([status, out]).toEqual([2, '']);
    expect(err).toContain('It cannot run as it stands\n\nOn the same GPUs, ');
});

test('why: with a script and a log both are told', async () => {
    slowScript(2);
    const died = goodOf('read_run', 'run-died');
    answers.alternatives = goodOf('alternatives', 'alternatives-70b');
    answers.read_run = (text: string) => (text.includes('CUDA out of memory') ? died : refusalOf('run-unknown'));
    const { out } = await call('why run.sh log.txt');
    expect(out).toContain('Why the run died');
    expect(out).toContain('\n\nHow fast it is\n\nAs it stands, it fits: ');
    const { faster, ...answer } = JSON.parse((await call('why run.sh log.txt --json')).out);
    expect(answer).toEqual(died);
    expect(faster.format).toBe('megatron-lm');
});

test('why: a script and what it printed in one file are the job and its log', async () => {
    slowScript(2);
    const died = goodOf('read_run', 'run-died');
    answers.alternatives = goodOf('alternatives', 'alternatives-70b');
    answers.read_run = died;
    const { out, err } = await call('why log.txt');
    expect(out).toContain('Compared with the run that the files and options name: ');
    expect(out).toContain('\n\nHow fast it is\n\n');
    expect(err).not.toContain('nothing names the run');
});

test('why: a log that shows more than is counted: no “it fits”, and no plan or change that is too large by it', async () => {
    slowScript(2);
    files['why.sh'] = 'torchrun pretrain_gpt.py';
    const died = goodOf('read_run', 'run-died');
    const others = goodOf('alternatives', 'alternatives-70b');
    const own = goodOf('estimate', 'llama-70b-64-h100');
    const less = { id: 'read_run.verdict.counted_less', args: { needed: 1, share: 0.5 } };
    const first = { id: 'read_run.verdict.change', args: { change: others.changes[0]?.label, saved: 1 } };
    answers.read_run = (text: string) =>
        text.includes('CUDA out of memory') ? { ...died, verdict: [less, first] } : refusalOf('run-unknown');
    const of = (share: number) => others.changes.map((one, i) => ({ ...one, class: 'fits' as const, share: i === 1 ? 0.3 : share }));
    answers.alternatives = { ...others, changes: of(0.6) };
    const line = own.stage === own.worst_stage ? own.line_share : own.line_allocated_share;
    expect(0.6 * 1.5).toBeGreaterThan(line);
    const { out } = await call('why why.sh log.txt');
    expect(out).toContain('\n\nHow fast it is\n\nAs it stands, it runs out of memory: its log shows 50');
    expect(out).not.toContain('it fits');
    expect(out).toContain(`What to change first: ${tell(others.changes[1]?.label as Text)}. `);
    const { only } = JSON.parse(asked.findLast(([name]) => name === 'rank')?.[1] ?? '{}');
    expect(only.memory_at_most_gib * 2 ** 30).toBeLessThanOrEqual((own.card_bytes * line) / 1.5);
    answers.alternatives = { ...others, changes: of(0.9).map((one) => ({ ...one, share: 0.9 })) };
    expect((await call('why why.sh log.txt')).out).toContain('\nEven then it does not fit: ');
});

test('fit: files of one run are read as one text, and a complaint names them', async () => {
    slowScript(1);
    files['fsdp.yaml'] = 'num_processes: 8\n';
    await call('fit fsdp.yaml run.sh');
    const read = asked.filter(([name]) => name === 'import_plan').map(([, text]) => JSON.parse(text).text);
    expect(read).toHaveLength(1);
    expect(read[0]).toContain("cat > 'fsdp.yaml' <<");
    answers.import_plan = goodOf('import_plan', 'import-script');
    expect((await call('fit fsdp.yaml run.sh')).err).toContain('“fsdp.yaml, run.sh” does not say ');
});

test('fit: a script that leaves something open is not checked with defaults in its place', async () => {
    slowScript(1);
    answers.import_plan = goodOf('import_plan', 'import-script');
    const problem = (field: string) => ({ ...broken.problems[0], field });
    const broken = refusalOf('broken-rules') as { problems: object[] };
    answers.estimate = { ...broken, problems: [problem('expert_parallel'), problem('tensor_parallel')] };
    const { err } = await call('fit run.sh --tp 3');
    expect(err).toContain('does not say ');
    expect(err).toContain('--tp: ');
    expect(err).not.toContain('expert-parallel');
});

test('fit: a budget of tokens that nobody gave is said to be the usual one', async () => {
    const usual = goodOf('estimate', 'default');
    expect((await call('fit')).out).toMatch(/\nTraining [^\n]* tokens \(20 per parameter\)\n/);
    answers.estimate = { ...usual, job: { ...usual.job, token_budget: 1e12 } };
    expect((await call('fit')).out).toMatch(/\nTraining [^\n]* tokens\n/);
});

test('fit: one token is one token', async () => {
    const usual = goodOf('estimate', 'default');
    const { run } = usual.time;
    if (!run) throw new Error('the golden job has a budget');
    answers.estimate = { ...usual, job: { ...usual.job, token_budget: 1 }, time: { ...usual.time, run: { ...run, tokens: 1 } } };
    expect((await call('fit --tokens 1')).out).toMatch(/\nTraining [^\n]* for 1 token\n/);
});

test('fit: while something is asked for no rule of a plan complains', async () => {
    files['run.sh'] = 'torchrun pretrain_gpt.py';
    answers.import_plan = goodOf('import_plan', 'import-script');
    const broken = refusalOf('broken-rules');
    const problems = broken.problems.filter(({ rule }) => catalog.rules.some(({ id }) => id === rule));
    expect(problems).not.toEqual([]);
    answers.estimate = { ...broken, problems };
    const { err } = await call('fit run.sh');
    expect(err).toBe('“run.sh” does not say vocab_size. Give it with --set vocab_size=….\n');
});
