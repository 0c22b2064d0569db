// The plan shown as a script that starts it: by keyboard, on a narrow screen, as a file.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { load, open, pageTest } from './browser.mjs';
import { addressHas, catchCopies, inOrder, pasteDialog, verdictIs } from './find.mjs';
import { everyLook, fitsScreens } from './looks.mjs';
import { fourStages } from './numbers.mjs';
import { say } from './said.mjs';

const launchButton = (page) => page.locator('#answer').getByRole('button', { name: say('answer.launch'), exact: true });

async function opened(query = fourStages, options = {}) {
    const page = await open(query, options);
    await launchButton(page).focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    return { page, dialog, button: (id) => dialog.getByRole('button', { name: say(id), exact: true }) };
}

pageTest('what the button opens is not part of the first load', async () => {
    const { page } = await load();
    const files = await page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name));
    assert.ok(!files.some((name) => /panel/.test(name)));
});

pageTest('the script holds the plan shown; what is copied and what is saved is what stands there, and a shell reads it', async () => {
    const { page, dialog, button } = await opened();
    const shown = await dialog.locator('pre').textContent();
    inOrder(shown, '--num-layers 80', '--tensor-model-parallel-size 8', '--pipeline-model-parallel-size 4', 'torchrun');
    const copy = await catchCopies(page);
    assert.equal(await copy(button('formats.copy')), shown);
    const download = page.waitForEvent('download');
    await dialog.getByRole('button', { name: say('formats.save', { ending: 'sh' }), exact: true }).click();
    const file = await download;
    assert.equal(file.suggestedFilename(), 'fourfold-llama-3.1-70b-64-h100-sxm-80gb.sh');
    assert.equal(readFileSync(await file.path(), 'utf8'), shown);
    execFileSync('bash', ['-n'], { input: shown });
});

pageTest('another framework, an older release, a Slurm job: by keyboard, with what each lacks', async () => {
    const { page, dialog } = await opened();
    const [format, release] = ['formats.format', 'formats.release'].map((id) => dialog.getByRole('combobox', { name: say(id), exact: true }));
    const holds = (text) => dialog.locator('pre').getByText(text).waitFor();
    await release.focus();
    await release.selectOption('0.10');
    await dialog.getByRole('checkbox', { name: say('formats.slurm'), exact: true }).press('Space');
    await holds('#SBATCH --nodes=8');
    assert.ok(!(await dialog.locator('pre').textContent()).includes('--num-virtual-stages-per-pipeline-rank'));
    await format.selectOption('torchtitan');
    await holds('tensor_parallel_degree = 8');
    await dialog.getByText(say('formats.left_out_help', { label: 'torchtitan' })).waitFor();
    assert.equal(await dialog.getByRole('checkbox').count(), 0);
    const download = page.waitForEvent('download');
    await dialog.getByRole('button', { name: say('formats.save', { ending: 'toml' }), exact: true }).click();
    assert.equal((await download).suggestedFilename(), 'fourfold-llama-3.1-70b-64-h100-sxm-80gb.toml');
});

pageTest('by keyboard: the script scrolls, Escape leaves, and the focus is back on the button', async () => {
    const { page, dialog } = await opened();
    await dialog.getByRole('region', { name: say('formats.code') }).focus();
    assert.ok(await page.evaluate(() => document.activeElement.scrollHeight > document.activeElement.clientHeight));
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    assert.equal(await page.evaluate(() => document.activeElement.textContent), say('answer.launch'));
});

pageTest('a plan whose layers and fp8 numbers need more: said by name', async () => {
    const { dialog } = await opened(`${fourStages}&dtype=fp8&sched=zb-h1`);
    await dialog.getByText(/Zero bubble H1/).waitFor();
    await dialog.getByText(/recipe/).waitFor();
});

pageTest('the dialog in every look and language', async (t) => {
    const { page } = await opened();
    await everyLook(t, page, 'launching', { part: 'dialog' });
    await fitsScreens(page, 'launching');
});

const script = `#!/bin/bash
#SBATCH --nodes=8
NNODES=$SLURM_NNODES
TP=\${TP:-8}
MODEL=(
    --num-layers 80 --hidden-size 8192 --ffn-hidden-size 28672 --num-attention-heads 64
    --group-query-attention --num-query-groups 8 --swiglu --normalization RMSNorm --disable-bias-linear
    --untie-embeddings-and-output-weights --position-embedding-type rope --seq-length 8192 --max-position-embeddings 131072
)
torchrun --nproc_per_node 8 --nnodes $NNODES pretrain_gpt.py "\${MODEL[@]}" --bf16 --use-distributed-optimizer \\
    --tensor-model-parallel-size $TP --pipeline-model-parallel-size \${PP} --sequence-parallel --micro-batch-size 1 --global-batch-size 512 \\
    --hidden-dropout 0 --attention-dropout 0 --no-such-flag
`.replaceAll('\\$', '$');

pageTest('a launch script: what it leaves open is asked, and it becomes the run of the page', async (t) => {
    const page = await open();
    const { dialog, text, use } = await pasteDialog(page);
    await text.fill(script);
    await dialog.getByText(say('paste.script.ask')).waitFor();
    const words = dialog.getByLabel(say('paste.script.vocabulary'));
    await words.fill('128256');
    await words.press('Tab');
    const stages = dialog.getByLabel('$PP');
    await stages.fill('4');
    await stages.press('Tab');
    await dialog.getByText('--no-such-flag').waitFor();
    await everyLook(t, page, 'a script is read', { part: 'dialog' });
    await fitsScreens(page, 'a script is read');
    await use.click();
    await page.locator('#answer:focus').waitFor(); // read on there, by keyboard and by ear
    for (const part of ['tp=8', 'pp=4', 'gpus=64', 'batch=512', 'model=llama-3.1-70b']) await addressHas(page, part);
    await verdictIs(page, 'fits');
});

pageTest('on a phone what to do with a script stays in sight, however long its report is', async () => {
    for (const height of [844, 600]) {
        const page = await open('', { width: 390, height });
        const { dialog, text, use } = await pasteDialog(page);
        await text.fill(script);
        await dialog.getByText('--no-such-flag').waitFor();
        const { y, height: tall } = await use.boundingBox();
        assert.ok(y + tall <= height, `${y + tall} px of ${height}`);
        assert.ok(await dialog.evaluate((one) => one.scrollHeight > one.clientHeight), 'there is more than fits');
    }
});

pageTest('what is written as a script is read as the same run', async () => {
    const { page, dialog, button } = await opened();
    const shown = await dialog.locator('pre').textContent();
    await button('formats.close').click();
    const paste = await pasteDialog(page);
    await paste.text.fill(shown);
    await paste.dialog.getByLabel('$NODE_RANK').waitFor({ state: 'detached' });
    await paste.use.click();
    for (const part of ['tp=8', 'pp=4', 'gpus=64']) await addressHas(page, part);
    await verdictIs(page, 'fits');
});

// Tensor parallel over a whole node, every layer recomputed: far from the fastest for 8 billion parameters.
const torchtitan = `[model]
name = "llama3"
flavor = "8B"

[training]
seq_len = 8192
local_batch_size = 1
global_batch_size = 256

[parallelism]
data_parallel_shard_degree = 2
tensor_parallel_degree = 8

[activation_checkpoint]
mode = "full"
`;

pageTest('a recipe of torchtitan: its speed, the fastest plan on the same GPUs, and the keys that change', async (t) => {
    const page = await open();
    const { dialog, text } = await pasteDialog(page);
    await text.fill(torchtitan);
    await dialog.getByText(say('paste.faster.change', { label: 'torchtitan' })).waitFor();
    const changes = await dialog.locator('.faster pre').textContent();
    inOrder(changes, '  [parallelism]', '- tensor_parallel_degree = 8', '+ tensor_parallel_degree = 1', '- mode = "full"', '+ mode = "selective"', '+ selective_ac_option = "');
    await dialog.getByText(say('paste.script.found', { title: 'torchtitan', count: 1 })).waitFor();
    const copy = await catchCopies(page);
    assert.equal(await copy(dialog.getByRole('button', { name: say('paste.faster.copy'), exact: true })), changes);
    await everyLook(t, page, 'a recipe is read', { part: 'dialog' });
    await fitsScreens(page, 'a recipe is read');
});

const log = [1, 2, 3]
    .map((step) => ` iteration ${step}/ 50 | elapsed time per iteration (ms): ${step === 1 ? 90000 : 9000 + step}.0 | global batch size: 512 |`)
    .join('\n');
const death = `[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of 79.15 GiB of which 1.25 GiB is
free. Including non-PyTorch memory, this process has 77.90 GiB memory in use. Of the allocated memory 75.50 GiB is allocated by PyTorch, and 1.00 GiB is
reserved by PyTorch but unallocated.`.replaceAll('\n', ' ');

pageTest('what a run printed: why it died, in place', async (t) => {
    const page = await open(fourStages);
    const { dialog, text } = await pasteDialog(page);
    await text.fill(death);
    await dialog.getByRole('heading', { name: say('run.died') }).waitFor();
    await dialog.getByText(/^Rank 3 ran out of memory with 75\.5/).waitFor();
    await dialog.getByText(/^The largest parts on stage \d/).waitFor();
    await dialog.getByText(/numbers that were read/).click();
    await dialog.getByRole('cell', { name: '75.50 GiB' }).waitFor();
    await everyLook(t, page, 'a log is read', { part: 'dialog' });
    await fitsScreens(page, 'a log is read');
});

pageTest('the steps of a log become measured runs of the calibration', async () => {
    const page = await open(fourStages);
    const { dialog, text } = await pasteDialog(page);
    await text.fill(log);
    await dialog.getByRole('button', { name: say('run.measure') }).click();
    await dialog.waitFor({ state: 'detached' });
    const runs = page.locator('#calibrate textarea');
    await runs.waitFor();
    await page.waitForFunction((field) => field.value.startsWith('global_batch,step_seconds\n512,9.0025'), await runs.elementHandle());
});
