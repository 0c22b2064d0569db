import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Estimate } from '../core/api';
import type { Core } from '../core/client';
import type { Typed } from '../evidence/calibrate';
import type { Prover } from '../evidence/prove';
import { format } from '../format/format';
import type { Asker } from '../gpus/market';
import type { Phaser } from '../phases/ask';
import type { Placing } from '../placement/search';
import { rateOf } from '../shared/answer-words';
import { nameOf } from '../shared/names';
import { plansComing } from '../shared/plan-words';
import { Room } from '../shared/room';
import { withConfig } from '../state/state';
import type { Actions, Page } from '../store/page';
import { fetchWords, say } from '../words/words';

// The doors to the parts that come in a file of their own (more.tsx). It is on its way as soon as the reader does anything at all.
type More = typeof import('./more');
let fetched: More | undefined;

export async function fetchMore(): Promise<void> {
    const [more] = await Promise.all([import('./more'), fetchWords('more')]);
    fetched = more;
}

function useMore(wanted: boolean): { more: More | undefined; failed: boolean } {
    const [failed, fail] = useState(false);
    const [, redraw] = useState(fetched);
    useEffect(() => {
        if (!wanted) return;
        fetchMore().then(
            () => redraw(fetched),
            () => fail(true),
        );
    }, [wanted]);
    return { more: fetched, failed };
}

const Wait = ({ failed }: { failed: boolean }) => <p class="note">{failed ? say('later.failed') : say('later.coming')}</p>;

interface PartProps {
    id?: string;
    title: string;
    small?: string;
    opened: boolean; // until the reader decides otherwise
    children(more: More): ComponentChildren;
}

function Part({ id, title, small, opened, children }: PartProps) {
    const [chosen, choose] = useState<boolean | null>(null);
    const open = chosen ?? opened;
    // A link to a folded part opens it.
    useEffect(() => {
        const look = (): void => {
            if (id && location.hash === `#${id}`) choose(true);
        };
        look();
        addEventListener('hashchange', look);
        return () => removeEventListener('hashchange', look);
    }, [id]);
    const { more, failed } = useMore(open);
    return (
        <details
            id={id}
            class="part-later"
            open={open}
            onToggle={(event) => event.currentTarget.open !== open && choose(event.currentTarget.open)}
        >
            <summary>
                <h2>{title}</h2> {small && <small>{small}</small>}
            </summary>
            {open && (more ? children(more) : <Wait failed={failed} />)}
        </details>
    );
}

export function LaterStages({ answer, act }: { answer: Estimate; act: Actions }) {
    const several = answer.stages.length > 1;
    const { more, failed } = useMore(several);
    if (!several) return null;
    return more ? <more.Stages answer={answer} act={act} /> : <Wait failed={failed} />;
}

export function LaterCard(props: Parameters<More['Card']>[0]) {
    const { more, failed } = useMore(true);
    return more ? <more.Card {...props} /> : <Wait failed={failed} />;
}

// The items of a step. A part chosen in the bar opens them and shows its largest.
export function LaterTime(props: Parameters<More['TimeTable']>[0]) {
    const { page, answer, chosen } = props;
    const rate = rateOf(answer, page);
    const { peak_tflop_per_s, peak_format, tokens_per_s_per_gpu } = answer.time;
    const rates = say('step.rates', {
        mfu: rate.mfu,
        peak: format.count(peak_tflop_per_s),
        format: peak_format,
        rate: format.rounded(rate.tflop_per_s_per_gpu),
        tokens: format.rounded(tokens_per_s_per_gpu),
        convention: nameOf('rate', rate),
    });
    return (
        <Part key={chosen} title={say('step.table')} small={rates} opened={chosen !== null}>
            {(more) => <more.TimeTable {...props} />}
        </Part>
    );
}

// What is typed outlives the part's folding.
export function LaterCalibrate({ page, act, calibrate }: { page: Page; act: Actions; calibrate: Core['calibrate'] }) {
    const [typed, setTyped] = useState<Typed>({ text: null, convention: null });
    const { measured } = page;
    useEffect(() => {
        if (measured === null) return;
        setTyped({ text: measured, convention: null });
        location.hash = 'calibrate'; // opens the part
    }, [measured]);
    const { time_factor, site, memory_factor, memory_extra } = page.job;
    const used = time_factor !== 1 || site === 'own' || memory_factor !== 1 || memory_extra !== 0;
    const small = used ? say('part.calibrated') : undefined;
    return (
        <Part id="calibrate" title={say('part.calibrate')} {...(small && { small })} opened={false}>
            {(more) => (
                <more.Calibrate page={page} act={act} calibrate={calibrate} readRun={more.readRun} typed={typed} setTyped={setTyped} />
            )}
        </Part>
    );
}

// In the order below. Their headings stand in the built page, so that its links lead somewhere from the first moment on.
const SECTIONS = ['best', 'gpus', 'limits', 'cards', 'phases', 'pools', 'placement', 'plans', 'compare', 'evidence'] as const;
const OWN = new Set<string>(['cards', 'phases', 'pools', 'placement', 'compare', 'evidence']); // these show no plans of the search

// The best plans, the numbers of GPUs and the map: they need the module's search, so that nobody misses them in the first load.
interface PlansProps {
    page: Page;
    act: Actions;
    placing: Placing;
    prover: Prover;
    market: Asker;
    phaser: Phaser;
}

export function LaterPlans({ placing, prover, market, phaser, ...props }: PlansProps) {
    const { more, failed } = useMore(props.page.heat !== null || props.page.pins.length > 0);
    if (more) {
        return (
            <>
                <more.Best {...props} />
                <more.Sweep {...props} />
                <more.Limits {...props} />
                <more.Cards page={props.page} asker={market} />
                <more.Phases page={props.page} phaser={phaser} />
                <more.Pools page={props.page} mixer={phaser} />
                <more.Placement {...props} placing={placing} />
                <more.Plans {...props} />
                <more.Compare {...props} />
                <more.Evidence page={props.page} prover={prover} />
            </>
        );
    }
    const coming = (id: string): string => (OWN.has(id) ? say('later.coming') : plansComing(props.page));
    const note = (id: string): string => (failed ? say('later.failed') : coming(id));
    return (
        <>
            {SECTIONS.map((id) => (
                <Room key={id} id={id} class="plans" title={say(`section.${id}`)}>
                    <p class="note">{note(id)}</p>
                </Room>
            ))}
        </>
    );
}

export function LaterLayout(props: Parameters<More['Layout']>[0]) {
    const { more, failed } = useMore(true);
    return more ? <more.Layout {...props} /> : <Wait failed={failed} />;
}

// The numbers of the reader's own GPU.
export function LaterOwnGpu(props: Parameters<More['OwnGpu']>[0]) {
    const { more, failed } = useMore(true);
    return more ? <more.OwnGpu {...props} /> : <Wait failed={failed} />;
}

interface PasteProps {
    page: Page;
    act: Actions;
    asks: Pick<Core, 'importConfig' | 'estimate' | 'rank' | 'exportPlan'>;
}

export function LaterPaste({ page, act, asks }: PasteProps) {
    const { more, failed } = useMore(page.pasting !== null);
    useEffect(() => {
        if (failed) act.notify('missing');
    }, [failed]);
    if (!page.pasting || !more) return null;
    const { answer, alternatives } = page;
    const counted = answer && page.problems.length === 0 ? more.countedOf(answer, page.alternativesStale ? null : alternatives) : null;
    return (
        <more.PasteDialog
            start={page.pasting.text}
            importing={{ importConfig: asks.importConfig, importPlan: more.importPlan, readRun: (text) => more.readRun({ text, counted }) }}
            faster={(plan, script) => <more.Faster page={page} plan={plan} script={script} asks={asks} />}
            measure={act.measure}
            builtIn={(repository) => {
                const model = page.catalog.models.find((one) => more.sameRepository(one.repository, repository));
                if (!model) return null;
                const use = (): void => {
                    act.paste(null);
                    act.change({ model: model.id }, 'choose');
                };
                return { label: model.label, use };
            }}
            run={(plan) => {
                act.paste(null);
                act.replaceJob(more.jobOfScript(page.job, page.catalog, plan), 'choose');
            }}
            close={() => act.paste(null)}
            use={(imported) => {
                act.paste(null);
                act.replaceJob(withConfig(page.job, imported.model), 'choose');
            }}
        />
    );
}

interface PartsProps {
    answer: Estimate;
    act: Actions;
    timeline: Core['timeline'];
}

export function LaterParts({ answer, act, timeline }: PartsProps) {
    const { comparison } = answer;
    return (
        <>
            <Part title={say('part.curve')} opened={answer.stages.length > 1}>
                {(more) => <more.StepCurve answer={answer} />}
            </Part>
            <Part title={say('part.timeline')} opened={answer.stages.length > 1}>
                {(more) => <more.PipelineTimeline job={answer.job} ask={timeline} />}
            </Part>
            <Part
                title={say('part.methods')}
                small={say('part.both', {
                    here: answer.total_bytes,
                    method: nameOf('method', { id: String(answer.job.method) }),
                    there: comparison.total_bytes,
                    other: nameOf('method', { id: comparison.method }),
                })}
                opened={false}
            >
                {(more) => <more.TwoMethods answer={answer} act={act} />}
            </Part>
        </>
    );
}
