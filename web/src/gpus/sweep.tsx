import type { Catalog, Size } from '../core/api';
import type { Heat } from '../core/heat';
import { planAt } from '../core/map-plan';
import { format } from '../format/format';
import { moneyOf } from '../shared/answer-words';
import { percent } from '../shared/chart';
import { degreeList, plansComing } from '../shared/plan-words';
import { Room } from '../shared/room';
import { allAuto } from '../state/state';
import type { Actions, Page } from '../store/page';
import { say, tell } from '../words/words';

// The fastest plan on every number of GPUs of the search: what more GPUs bring.
const HEIGHT = 120; // of the bars
const HEAD = 20;
const FOOT = 22;

function Bars({ sizes, now }: { sizes: Size[]; now: number }) {
    const middle = (i: number): string => percent((i + 0.5) / sizes.length);
    return (
        <svg class="efficiency" height={HEAD + HEIGHT + FOOT} aria-hidden="true">
            <line x1="0" x2="100%" y1={HEAD} y2={HEAD} class="whole" />
            {sizes.map(({ gpus, efficiency: reached }, i) => {
                const efficiency = reached ?? 0;
                const tall = HEIGHT * efficiency;
                return (
                    <g key={gpus} class={gpus === now ? 'now' : undefined}>
                        <rect
                            x={percent((i + 0.2) / sizes.length)}
                            width={percent(0.6 / sizes.length)}
                            y={HEAD + HEIGHT - tall}
                            height={tall}
                        />
                        <text x={middle(i)} y={HEAD + HEIGHT - tall - 5} text-anchor="middle">
                            {efficiency > 0 ? format.percent(efficiency) : '–'}
                        </text>
                        <text x={middle(i)} y={HEAD + HEIGHT + 16} text-anchor="middle">
                            {format.count(gpus)}
                        </text>
                    </g>
                );
            })}
            <line x1="0" x2="100%" y1={HEAD + HEIGHT} y2={HEAD + HEIGHT} />
        </svg>
    );
}

// Against the number on which a GPU does the most: where a plan barely fits it does little, and is no measure of the others.
function inMost(sizes: Size[]): { sizes: Size[]; most: number } {
    const best = sizes.reduce<Size | null>((most, size) => ((size.efficiency ?? 0) > (most?.efficiency ?? 0) ? size : most), null);
    const share = (efficiency: number | null): number | null => efficiency && efficiency / (best?.efficiency ?? 1);
    return { sizes: sizes.map((size) => ({ ...size, efficiency: share(size.efficiency) })), most: best?.gpus ?? 0 };
}

function finding(fitting: Size[], most: number): string {
    const [first, last] = [fitting[0], fitting.at(-1)];
    if (!first || !last) return say('sweep.none');
    if (first === last) return say('sweep.one', { gpus: first.gpus });
    const far = last.gpus === most ? first : last;
    return say('sweep.finding', { from: most, to: far.gpus, share: far.efficiency ?? 0 });
}

interface RowProps {
    catalog: Catalog;
    heat: Heat;
    size: Size;
    now: boolean;
    budget: Budget;
    act: Actions;
}

function Row({ catalog, heat, size, now, budget, act }: RowProps) {
    const { gpus, entry, run } = size;
    const gpusText = format.count(gpus);
    if (entry === null) {
        return (
            <tr>
                <th scope="row">{gpusText}</th>
                <td colSpan={4 + budget.columns}>{say('sweep.nothing')}</td>
            </tr>
        );
    }
    const take = () => {
        act.change({ gpus, ...allAuto(catalog) }, 'choose');
        document.getElementById('answer')?.scrollIntoView({ block: 'center' });
    };
    const plan = planAt(heat, entry);
    return (
        <tr class={now ? 'now' : undefined}>
            <th scope="row">
                <button type="button" class="link" aria-pressed={now} aria-label={say('sweep.take', { gpus })} onClick={take}>
                    {gpusText}
                </button>
            </th>
            <td class="extra" title={degreeList(plan)}>
                {Object.values(plan)
                    .map((value) => format.count(value))
                    .join(' · ')}
            </td>
            <td class="r">{format.duration(heat.columns.step_seconds[entry] ?? 0)}</td>
            <td class="r extra">{format.rounded(heat.columns.tokens_per_s[entry] ?? 0)}</td>
            <td class={budget.run ? 'r extra' : 'r'}>{format.percent(size.efficiency ?? 0)}</td>
            {run && (
                <>
                    <td class="r">{format.training(run.days, run.days, run.days)[0]}</td>
                    <td class="r extra">{format.rounded(run.gpu_hours)}</td>
                </>
            )}
            {run && run.cost !== null && <td class="r">{moneyOf(heat.summary.job, run.cost)}</td>}
        </tr>
    );
}

interface Budget {
    run: boolean;
    cost: boolean;
    columns: number;
}
const budgetOf = (sizes: Size[]): Budget => {
    const run = sizes.some((size) => size.run !== null);
    const cost = sizes.some((size) => size.run !== null && size.run.cost !== null);
    return { run, cost, columns: (run ? 2 : 0) + (cost ? 1 : 0) };
};

function Sizes({ page, heat, act }: { page: Page; heat: Heat; act: Actions }) {
    const { sizes, most } = inMost(heat.summary.sizes);
    const now = Number(page.job.gpus);
    const fitting = sizes.filter((size) => size.entry !== null);
    const budget = budgetOf(sizes);
    return (
        <>
            <p class="finding">{finding(fitting, most)}</p>
            {heat.summary.not_faster && <p>{tell(heat.summary.not_faster)}</p>}
            {fitting[0] && (
                <>
                    <p class="note">{say('sweep.note', { gpus: most })}</p>
                    <Bars sizes={sizes} now={now} />
                    <table aria-label={say('sweep.table')}>
                        <thead>
                            <tr>
                                <th scope="col">{say('sweep.gpus')}</th>
                                <th scope="col" class="extra">
                                    {say('sweep.plan')}
                                </th>
                                <th scope="col" class="r">
                                    {say('sweep.time')}
                                </th>
                                <th scope="col" class="r extra">
                                    {say('sweep.speed')}
                                </th>
                                <th scope="col" class={budget.run ? 'r extra' : 'r'}>
                                    {say('sweep.efficiency')}
                                </th>
                                {budget.run && (
                                    <>
                                        <th scope="col" class="r">
                                            {say('sweep.days')}
                                        </th>
                                        <th scope="col" class="r extra">
                                            {say('sweep.hours')}
                                        </th>
                                    </>
                                )}
                                {budget.cost && (
                                    <th scope="col" class="r">
                                        {say('sweep.cost')}
                                    </th>
                                )}
                            </tr>
                        </thead>
                        <tbody>
                            {sizes.map((size) => (
                                <Row
                                    key={size.gpus}
                                    catalog={page.catalog}
                                    heat={heat}
                                    size={size}
                                    now={size.gpus === now}
                                    budget={budget}
                                    act={act}
                                />
                            ))}
                        </tbody>
                    </table>
                </>
            )}
        </>
    );
}

// Links lead here, so that it stands there before its numbers do.
export function Sweep({ page, act }: { page: Page; act: Actions }) {
    const { heat } = page;
    return (
        <Room id="gpus" class={page.heatStale ? 'plans sweep stale' : 'plans sweep'} title={say('section.gpus')}>
            {heat ? <Sizes page={page} heat={heat} act={act} /> : <p class="note">{plansComing(page)}</p>}
        </Room>
    );
}
