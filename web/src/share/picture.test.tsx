import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Estimate, Run } from '../core/api';
import { format } from '../format/format';
import { lineText, timeOf } from '../shared/answer-words';
import { nameOf as partOf } from '../shared/names';
import { wholePlan } from '../shared/plan-words';
import { speakTo } from '../shared/speak-to';
import { answeredOf, catalog } from '../shared/test-data';
import { plain, show, textOf } from '../shared/test-view';
import { createMeasure } from './lines';
import { COLOURS, HEIGHT, Picture, WIDTH } from './picture';
import { textOfSvg } from './save';

const partName = (id: string): string => partOf('group', { id });
const LINK = 'https://example.org/?v=2&gpus=8';
const DAY = new Date(2026, 10, 22);

function drawn(name?: string, budget = {}) {
    const { page, answer } = answeredOf(name);
    const given = { ...answer, ...budget };
    const measure = createMeasure();
    const view = show(<Picture page={{ ...page, answer: given }} answer={given} link={LINK} date={DAY} measure={measure} />);
    return { answer: given, ...view, svg: view.one<SVGSVGElement>('svg') };
}

test('verdict, sentence, bar with its limit, time, plan, link and date', () => {
    const { answer, svg } = drawn();
    const text = textOf(svg);
    const used = format.headline(answer.whole_bytes, answer.card_bytes);
    expect(text).toContain('It fits.');
    expect(text).toContain(plain(`${used} of 80 GB (${format.percent(answer.whole_bytes / answer.card_bytes)})`));
    for (const { bytes, share } of answer.groups) if (share > 0.15) expect(text).toContain(plain(format.gb(bytes)));
    expect(text).toContain(lineText(answer));
    expect(text).toContain(plain('80 GB card'));
    expect(text).toContain(plain(timeOf(answer).slice(0, 20)));
    expect(text).toContain(LINK);
    expect(text).toContain(format.date(DAY));
});

test('a plan of many words stands in two lines, whole', () => {
    const { page, answer } = answeredOf('llama-70b-64-h100');
    const job = { ...answer.job, layout: 'Et*8|(t*10|)*3(t*11|)*3t*9L' };
    const view = show(<Picture page={page} answer={{ ...answer, job }} link={LINK} date={DAY} measure={createMeasure()} />);
    expect(view.text().replace(/\s/g, '')).toContain(plain(wholePlan(catalog, job, answer.data_parallel)).replace(/\s/g, ''));
});

// A step told by its ends, a run of many days, and a price: the longest that the text becomes.
const longest = (answer: Estimate): Estimate['time'] => ({
    ...answer.time,
    step_seconds: 742,
    low_seconds: 513,
    high_seconds: 1123,
    run: { ...(answer.time.run as Run), tokens: 1.41e12, days: 1440, low_days: 1310, high_days: 1590, cost: 2.21e6, energy_kwh: 1.2345e6 },
});

test.each(['en', 'ja', 'zh'] as const)('in %s nothing of the time, the cost and the energy is cut off', async (language) => {
    await speakTo(language);
    for (const name of ['default', 'does-not-fit', 'deepseek-v3-1024-h100']) {
        const { answer, svg } = drawn(name, { time: longest(answeredOf(name).answer) });
        expect(textOf(svg).replace(/\s/g, '')).toContain(timeOf(answer).replace(/\s/g, ''));
    }
    await speakTo('en');
});

test('a part too narrow for its name has it below the bar', () => {
    const { answer, svg } = drawn('llama-70b-64-h100');
    const text = textOf(svg);
    for (const group of answer.groups) if (group.share > 0.01) expect(text).toContain(plain(`${format.gb(group.bytes)} GB`));
    for (const { id, share } of answer.groups) if (share > 0.01) expect(text).toContain(partName(id));
});

test('each part is as wide as its share', () => {
    const { answer, svg } = drawn();
    for (const { id, share } of answer.groups) {
        if (share === 0) continue;
        const part = svg.querySelector(`rect[fill="${COLOURS[id]}"]`);
        expect(Number(part?.getAttribute('width'))).toBeCloseTo(share * (WIDTH - 128), 6);
    }
});

test('a run that does not fit says so, in its colour', () => {
    const { svg } = drawn('does-not-fit');
    expect(textOf(svg)).toContain('It does not fit.');
    expect(svg.querySelector(`text[fill="${COLOURS.no}"]`)).not.toBeNull();
});

test('the file stands alone: its namespace, its size, no style sheet', () => {
    const text = textOfSvg(drawn().svg);
    expect(text).toContain('xmlns="http://www.w3.org/2000/svg"');
    expect(text).toContain(`viewBox="0 0 ${WIDTH} ${HEIGHT}"`);
    expect(text).not.toMatch(/class=|style=|var\(|url\(/);
});

test('its colours are the light ones of the page', () => {
    const tokens = readFileSync(join(import.meta.dirname, '../page/tokens.css'), 'utf8');
    for (const [name, colour] of Object.entries(COLOURS)) expect(tokens).toMatch(new RegExp(`--${name}: (light-dark\\()?${colour}[,;]`));
});
