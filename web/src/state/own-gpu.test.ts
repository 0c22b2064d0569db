import { expect, test } from 'vitest';
import { answeredOf, catalog } from '../shared/test-data';
import { defaults, formatLink, inUse, type Job, parseLink, pinOf, request } from './state';

const mine: Job = { ...defaults(catalog), gpu: 'custom', 'gpu.name': 'Nimbus 48 & co;', 'gpu.base': 'a100-sxm-80gb', 'gpu.memory_gib': 48 };
const LINK = '?v=2&model=llama-3.1-8b&gpu=custom&gpus=8&seq=8192&batch=1024&gpu.name=Nimbus+48+%26+co%3B&gpu.base=a100-sxm-80gb&gpu.mem=48';

test('a GPU of one’s own is written into a link with what differs from its base, and read again', () => {
    expect(formatLink(mine, catalog)).toBe(LINK);
    expect(parseLink(LINK, catalog)).toMatchObject({ job: mine, unknown: [] });
    expect(request(mine).gpu).toEqual({ name: 'Nimbus 48 & co;', base: 'a100-sxm-80gb', memory_gib: 48 });
    expect(formatLink({ ...mine, 'gpu.memory_gib': 'auto' }, catalog)).toBe(LINK.replace('&gpu.mem=48', ''));
});

test('numbers of a link as people write them; what is none goes to the core as it is', () => {
    const { job, unknown } = parseLink(`${LINK}&gpu.hbm=3.35+TB/s&gpu.net=400+Gbit/s&gpu.price=$2.50&gpu.sm=many&gpu.colour=red`, catalog);
    expect(unknown).toEqual(['gpu.colour']);
    expect(request(job).gpu).toMatchObject({
        hbm_gbyte_per_s: 3350,
        network_gbyte_per_s: 50,
        usd_per_gpu_hour: 2.5,
        streaming_multiprocessors: 'many',
    });
});

test('a link that does not say what it is like means the usual GPU', () => {
    expect(request(parseLink('?gpu=custom&gpu.name=Mine', catalog).job).gpu).toEqual({ name: 'Mine', base: 'h100-sxm-80gb' });
});

test('its numbers belong to no other GPU', () => {
    expect(parseLink('?gpu=h100-sxm-80gb&gpu.mem=48', catalog).unknown).toEqual(['gpu.mem']);
    const given = inUse({ ...mine, gpu: 'h100-sxm-80gb' });
    expect(Object.keys(given).filter((key) => key.startsWith('gpu.'))).toEqual([]);
    expect(request({ ...mine, gpu: 'h100-sxm-80gb' }).gpu).toBe('h100-sxm-80gb');
});

test('a plan on it that is put aside keeps it', () => {
    const { answer } = answeredOf('own-gpu');
    const pin = pinOf(answer.job, catalog);
    expect(pin.job).toMatchObject({ gpu: 'custom', 'gpu.name': 'Nimbus 48 <i>', 'gpu.base': 'a100-sxm-80gb', 'gpu.memory_gib': 48 });
    const { pins } = parseLink(formatLink(mine, catalog, [pin]), catalog);
    expect(pins).toEqual([pin]);
    expect(request(pins[0]?.job as Job).gpu).toEqual({
        name: 'Nimbus 48 <i>',
        base: 'a100-sxm-80gb',
        memory_gib: 48,
        network_gbyte_per_s: 12.5,
    });
});
