// A run on GPUs of several kinds: who does what, and how long a step takes.
import type { Pooled, Refusal } from '../core/api';
import { parsePools } from '../pools/link';
import { basisText, layoutOf, shareCells, shareHeads, sumText, wayCells, wayHeads } from '../pools/said';
import { say } from '../words/words';
import { type Asked, complained, DOES_NOT_FIT, type Done, FITS, refused } from './asked';
import { table } from './table';

export function pools({ core, catalog, request, own }: Asked): Done {
    const more = parsePools(own.pools ?? null);
    if (more.length === 0) return complained(say('cli.problem', { option: '--pools', text: say('cli.option.pools') }));
    const answer = core.pools(JSON.stringify({ ...request, more_pools: more }));
    const mix = JSON.parse(answer) as Pooled | Refusal;
    if (!mix.ok) return refused(answer);
    const [best] = mix.ways;
    const layout = layoutOf(mix);
    const stages = layout === null ? [] : [`${say('pools.layout')} ${layout}`];
    const parts = best && best.way !== 'alone' ? ['', table([shareHeads(), ...shareCells(mix)], [2, 3]), ...stages] : [];
    const ways = best ? ['', table([wayHeads(), ...wayCells(mix, catalog)], [1, 2, 3])] : [];
    return { status: best ? FITS : DOES_NOT_FIT, answer, text: [sumText(mix), ...parts, ...ways].join('\n'), notes: [basisText(mix)] };
}
