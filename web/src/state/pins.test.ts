// Pinned plans in a link.
import { describe, expect, test } from 'vitest';
import { defaults, formatLink, isPinned, type Job, MAX_PINS, parseLink, pinOf, request, withConfig } from './state';
import { catalog, integer } from './test-first';

const initial = defaults(catalog);

describe('pinned plans', () => {
    const resolved: Job = { ...initial, gpus_per_node: 8, tensor_parallel: 2, context_parallel: 1, pipeline_parallel: 4, micro_batch: 1 };
    const main = '?v=1&model=llama-3.1-8b&gpu=h100-sxm-80gb&gpus=8&seq=8192&batch=1024';
    const text = 'model=llama-3.1-8b;gpu=h100-sxm-80gb;gpus=8;seq=8192;batch=1024;tp=2;cp=1;pp=4;mb=1;node=8';

    // A link made by the first page that had pins: it must read the same for ever.
    test('a historical link', () => {
        expect(parseLink(`${main}&pin=${text}&pin=${text.replace('tp=2', 'tp=4;drop=true')}`, catalog)).toEqual({
            job: initial,
            pins: [
                { text, job: resolved },
                {
                    text: text.replace('tp=2', 'tp=4').concat(';drop=true'),
                    job: { ...resolved, tensor_parallel: 4, hidden_dropout: true },
                },
            ],
            unknown: [],
            newer: false,
            widened: false,
        });
    });

    test('stand in the link as a reader would write them, after the job', () => {
        expect(formatLink(initial, catalog, [pinOf({ ...resolved }, catalog)])).toBe(`${main.replace('v=1', 'v=2')}&pin=${text}`);
    });

    test('are made from the job of an answer: known keys alone, a pasted model as its config', () => {
        const config = { model_type: 'llama', hidden_size: 64 };
        const { job } = pinOf({ ...resolved, version: 1, ...{ stage: 3 }, model: config }, catalog);
        expect(job).toEqual(withConfig(resolved, config));
        expect(request(job)).toMatchObject({ model: config, tensor_parallel: 2 });
    });

    const names = ['plain', 'a;b', 'a & b = c + d', '100 %', '%3B', 'pin=tp=1', '模型', 'x#y', "'quoted'", '1,2', ' '];
    test.each(names)('a pasted model named %s comes back the same', (name) => {
        const pins = [pinOf({ ...resolved }, catalog), pinOf({ ...resolved, model: { _name_or_path: name, hidden_size: 64 } }, catalog)];
        const link = formatLink(withConfig(initial, { _name_or_path: name }), catalog, pins);
        const again = parseLink(link, catalog);
        expect(again.pins).toEqual(pins);
        expect(again.unknown).toEqual([]);
        expect(formatLink(again.job, catalog, again.pins)).toBe(link);
        expect(new URL(link, 'https://example.org/').searchParams.getAll('pin')).toEqual(pins.map((pin) => pin.text));
    });

    test('what is broken is named and kept out', () => {
        const broken = [
            '',
            'tp=2',
            text.replace('tp=2', 'tp=auto'),
            text.replace('tp=2', 'tp=banana'),
            text.replace('gpus=8', 'gpus=many'),
            `${text};grad32=maybe`,
            `${text};colour=red`,
            `${text};model.hidden_size=1`,
            `${text};pin=${text.replaceAll(';', '%3B')}`,
        ];
        const { pins, unknown } = parseLink(
            `${main}${broken.map((one) => `&pin=${encodeURIComponent(one)}`).join('')}&pin=${text}`,
            catalog,
        );
        expect(pins.map((pin) => pin.text)).toEqual([text]);
        expect(unknown).toEqual(broken.map((one) => `pin=${one.slice(0, 60)}`));
    });

    test('the same plan twice is one; more than fit are named and kept out', () => {
        const link = (...plans: string[]) => parseLink(main + plans.map((one) => `&pin=${one}`).join(''), catalog);
        expect(link(text, text.replace(';gpus=8', '').concat(';gpus=8'))).toMatchObject({ pins: [{ text }], unknown: [] });
        const many = Array.from({ length: MAX_PINS + 2 }, (_, i) => text.replace('tp=2', `tp=${i + 1}`));
        const { pins, unknown } = link(...many, text);
        expect(pins.map((pin) => pin.text)).toEqual(many.slice(0, MAX_PINS));
        expect(unknown.length).toBe(2);
        expect(isPinned(pins, { text, job: initial })).toBe(true);
    });

    test('values out of range are the core\u2019s to judge, and a pin of a newer page says so', () => {
        expect(parseLink(`${main}&pin=${text.replace('gpus=8', 'gpus=7')}`, catalog).pins.length).toBe(1);
        expect(parseLink(`${main}&pin=v=3;${text}`, catalog)).toMatchObject({ newer: true, pins: [{ text }] });
        expect(parseLink(`?v=3&pin=v=1;${text}`, catalog).newer).toBe(true);
    });

    test('a field that came later, and is left open by default, leaves older pins whole', () => {
        const newer = { ...catalog, fields: [...catalog.fields, integer('expert_parallel', 'ep', 'auto')] };
        expect(parseLink(`${main}&pin=${text}`, newer).pins[0]?.job.expert_parallel).toBe('auto');
    });
});
