import { expect, test, vi } from 'vitest';
import { format } from '../format/format';
import { catalog, goodOf, refusalOf } from '../shared/test-data';
import { cellsOf, plain, settle, show, tap } from '../shared/test-view';
import { formatLink } from '../state/state';
import { isSaid } from '../words/words';
import { Famous } from './famous';
import { off as offBy } from './off';
import { famousRuns, jobOf } from './prove';

const good = goodOf('estimate', 'llama-70b-64-h100');
const refusal = refusalOf('bad-request');
const proverOf = (estimate: () => Promise<unknown>) => ({ estimate: vi.fn(estimate) as never, stop: vi.fn(), end: vi.fn() });
const rowsOf = (table: Element): string[][] => cellsOf(table).slice(1);

test('each run: a link to it, what was published, what the page says, and the source', async () => {
    const { all, find, text } = show(<Famous catalog={catalog} prover={proverOf(async () => good)} />);
    await settle();
    const links = all('link').map((one) => one.getAttribute('href'));
    for (const run of famousRuns) {
        expect(links).toContain(formatLink(jobOf(run, catalog), catalog));
        expect(links).toContain(run.source.url);
        expect(isSaid(`famous.note.${run.id}`)).toBe(true);
    }
    const rows = rowsOf(find('table', 'Famous runs'));
    expect(rows).toHaveLength(famousRuns.length);
    const { step_seconds, low_seconds, high_seconds } = good.time;
    famousRuns.forEach((run, i) => {
        const [, , reached, said, off] = rows[i] ?? [];
        expect(said).toContain(plain(format.duration(step_seconds)));
        const { seconds } = run.published;
        if (seconds === undefined) return;
        expect(reached).toBe(plain(`${format.duration(seconds)} a step`));
        const inside = seconds >= low_seconds && seconds <= high_seconds;
        expect(off).toBe(plain(`${offBy(seconds / step_seconds)}${inside ? 'in the range' : 'outside the range'}`));
    });
    expect(text()).toContain(`All ${famousRuns.length} calculated`);
});

test('a run at risk says up to where it would be safe', async () => {
    const { find } = show(<Famous catalog={catalog} prover={proverOf(async () => ({ ...good, class: 'at_risk' }))} />);
    await settle();
    const [, , , said] = rowsOf(find('table', 'Famous runs'))[0] ?? [];
    expect(said).toMatch(/at risk \d+ of 80 GB \(\d+ %\) · safe up to \d+/);
});

test('a run that the core refuses says why', async () => {
    const { find } = show(<Famous catalog={catalog} prover={proverOf(async () => refusal)} />);
    await settle();
    const [, , , said, off] = rowsOf(find('table', 'Famous runs'))[0] ?? [];
    expect(said).toMatch(/^Cannot be calculated\. ./);
    expect(off).toBe('–');
});

test('stopped and taken up again', async () => {
    const never = proverOf(() => new Promise(() => {}));
    const { all, find, text } = show(<Famous catalog={catalog} prover={never} />);
    expect(text()).toContain(`0 of ${famousRuns.length} calculated…`);
    tap(find('button', 'Stop'));
    expect(never.stop).toHaveBeenCalled();
    expect(text()).toContain('Stopped.');
    tap(find('button', 'Go on'));
    expect(never.estimate).toHaveBeenCalledTimes(2);
    expect(all('button', 'Stop')).toHaveLength(1);
});
