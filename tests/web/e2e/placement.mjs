// The part "Placement" as its tests use it.
import { plain } from './find.mjs';

export const run = '?v=1&model=llama-3.1-8b&gpu=h100-sxm-80gb&gpus=64&tp=2&pp=4&cp=1&mb=1';
export const section = (page) => page.locator('#placement');

export async function openLinks(page) {
    await section(page).locator('.acts button').click();
    const text = section(page).locator('.drop textarea');
    await text.waitFor();
    const [unit] = await section(page).locator('.drop select').all();
    return { text, unit, example: section(page).locator('.drop .acts > button').nth(1) };
}

// What the measurement says, and what the search has found: '' before there is any.
const first = async (locator) => ((await locator.count()) > 0 ? plain(locator.first()) : '');
export const title = (page) => first(section(page).locator('.matrix > .finding'));
export const result = (page) => first(section(page).locator('.result-of-placement > .finding'));

// The search's own row of settings: what to shorten, and for how long to search.
const controls = (page) => section(page).locator('.step > .row').last();
export const searchFor = (page, seconds) => controls(page).locator('select').nth(1).selectOption(String(seconds));
export const search = (page) => section(page).locator('.step > .acts > button.prime').click();
// What was found belongs to something older.
export const stale = (page) => section(page).locator('.result-of-placement.stale').waitFor();

// The rows of the nodes that differ.
export const nodes = (page) => {
    const table = section(page).locator('details.units');
    const cell = (kind) => (row) => table.locator(`input.${kind}`).nth(row);
    return {
        open: () => table.locator('> summary').click(),
        add: () => table.locator('.acts button').click(),
        remove: (row) => table.locator('td button').nth(row).click(),
        name: cell('name'),
        speed: cell('speed'),
        memory: cell('memory'),
        names: () => table.locator('input.name').evaluateAll((all) => all.map((one) => one.value)),
    };
};
export async function changeNode(page, row, values) {
    for (const [kind, value] of Object.entries(values)) await nodes(page)[kind](row).fill(value);
}

// A square measurement in which all links are alike, of nodes a, b, c…
export const even = (count, rate = 40) => {
    const all = Array.from({ length: count }, (_, i) => String.fromCharCode(97 + i));
    return [`GB/s,${all}`, ...all.map((from) => [from, ...all.map((to) => (from === to ? '' : rate))].join(','))].join('\n');
};

// What all_reduce_perf prints of nodes with eight GPUs: so many µs, and the bytes at that rate.
export function allReduce({ nodes, latency, gbyteEachSecond }) {
    const ranks = Array.from({ length: 8 * nodes }, (_, i) => `#  Rank ${i} Group  0 Pid 1 on node${Math.floor(i / 8)} device  ${i % 8} [0x07] NVIDIA H100`);
    const sizes = Array.from({ length: 11 }, (_, i) => 2 ** (20 + i)).map((bytes) => {
        const time = latency + bytes / gbyteEachSecond / 1000;
        const rate = bytes / time / 1000;
        const columns = [time, rate, (rate * 2 * (8 * nodes - 1)) / (8 * nodes)].map((number) => number.toFixed(3)).join(' ');
        return `${bytes} ${bytes / 4} float sum -1 ${columns} 0 ${columns} 0`;
    });
    const columns = '#  size  count  type  redop  root  time  algbw  busbw #wrong  time  algbw  busbw #wrong';
    return ['# Collective test starting: all_reduce_perf', '# Using devices', ...ranks, columns, ...sizes].join('\n');
}
