import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { answeredOf, goodOf } from '../shared/test-data';
import { parseLink } from '../state/state';
import { FIELDS, formAddress, NOTHING, type Report, reportOf } from './report';

// The form as it stands: its fields, which of them it wants, and the options of those that have some.
const form = readFileSync(join(import.meta.dirname, '../../../.github/ISSUE_TEMPLATE/measured-run.yml'), 'utf8');
const fields = form
    .split(/^ {2}- type: /m)
    .slice(1)
    .flatMap((block) => {
        const id = /^ {4}id: (\w+)$/m.exec(block)?.[1];
        const inline = /options: \[(.+)\]/.exec(block)?.[1]?.split(', ');
        const options = inline ?? [...block.matchAll(/^ {8}- (?!label)(.+)$/gm)].map(([, option]) => option ?? '');
        return id ? [{ id, type: block.split('\n')[0] ?? '', required: /required: true/.test(block), options }] : [];
    });
const HOST = 'https://git.example/group/project';
const paramsOf = (report: Report): URLSearchParams => new URL(formAddress(HOST, report).url).searchParams;

const { page, answer } = answeredOf('llama-70b-64-h100');
const measured = { ...NOTHING, seconds: 11.83, gib: 61.2 };

test('every part of the address is a field of the form, and every choice an option of its field', () => {
    expect(fields.length).toBeGreaterThan(10);
    expect(FIELDS.filter((id) => !fields.some((field) => field.id === id))).toEqual([]);
    for (const name of ['default', 'llama-70b-64-h100', 'mixtral-64-b200', 'custom-model', 'llama-405b-uneven-offload', 'fsdp']) {
        const shown = answeredOf(name);
        const params = paramsOf(reportOf(shown.page, shown.answer, measured));
        expect(params.get('template')).toBe('measured-run.yml');
        params.delete('template');
        for (const [id, value] of params) {
            const field = fields.find((one) => one.id === id);
            expect(field, id).toBeDefined();
            if (field?.type === 'dropdown') expect(field.options).toContain(value);
        }
        const wanted = fields.filter(({ required, type }) => required && type !== 'checkboxes').map(({ id }) => id);
        const missing = wanted.filter((id) => !params.has(id));
        const theirs = ['outcome', ...(shown.answer.job.recompute === 'block' ? ['recompute'] : [])]; // for the reader to say
        expect(missing.filter((id) => !theirs.includes(id))).toEqual([]);
    }
});

test('the plan, what was measured and what the page estimated', () => {
    const report = reportOf(page, answer, measured);
    expect(report).toMatchObject({ model: 'Llama 3.1 70B', gpu: 'H100 SXM 80 GB', recompute: 'none' });
    expect(report.counts).toMatch(/^gpus=64, gpus_per_node=8/);
    expect(report.split).toMatch(/^TP 8, CP 1, PP 4, DP 2; /);
    expect(report.time).toMatch(/^measured_seconds=11\.83, estimated_seconds=[\d.]+, low_seconds=[\d.]+, high_seconds=[\d.]+$/);
    expect(report.memory).toMatch(/^measured_gib=61\.2, estimated_allocated_gib=46\.8\d?, estimated_reserved_gib=[\d.]+$/);
    const link = report.command?.replace(/^Fourfold \?/, '') ?? '';
    expect(parseLink(link, page.catalog).job).toMatchObject({ gpus: 64, tensor_parallel: 8, pipeline_parallel: 4 });
    const nothing = reportOf(page, answer, NOTHING);
    expect([nothing.time, nothing.memory]).toEqual([undefined, undefined]);
});

test('lines of the calibration go with their times', () => {
    const { rows } = goodOf('calibrate', 'calibrate');
    const report = reportOf(page, answer, { ...NOTHING, rows, lines: 'gpus,step_seconds\n64,9.2\n' });
    expect(report.time?.split('; ')).toHaveLength(rows.length);
    expect(report.command).toMatch(/^Fourfold \?v=.*\ngpus,step_seconds\n64,9\.2$/);
});

test('a model of the reader’s own comes with its config', () => {
    const own = answeredOf('custom-model');
    const report = reportOf(own.page, own.answer, measured);
    expect(JSON.parse(report.config ?? '')).toMatchObject({ hidden_size: own.answer.model.config.hidden_size });
});

test('what is too long for an address is left to the reader, and named', () => {
    const short = reportOf(page, answer, measured);
    expect(formAddress(HOST, short).left).toEqual([]);
    const lines = 'x'.repeat(8000);
    expect(formAddress(HOST, { ...short, config: lines }).left).toEqual(['config']);
    const { url, left } = formAddress(HOST, { ...short, config: '{}', command: lines });
    expect(left).toEqual(['config', 'command']);
    expect(url.length).toBeLessThan(7500);
});
