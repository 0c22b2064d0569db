import { useRef, useState } from 'preact/hooks';
import type { Alternatives, Change, Estimate, Fit } from '../core/api';
import { entryAt, type Heat } from '../core/heat';
import { format } from '../format/format';
import { isEqual, sizesOf, stepChange } from '../shared/answer-words';
import { Folded } from '../shared/folded';
import { newPlan } from '../shared/plan-words';
import type { Depth } from '../state/depth';
import { allAuto, type Job } from '../state/state';
import type { Actions, Page } from '../store/page';
import { say, sentences, tell } from '../words/words';
import { Press } from './press';

interface More {
    gpus: number;
    whole_bytes: number;
    step_seconds: number;
    touches: string;
}

// The fewest GPUs, among those of the map, from which on some plan fits.
function moreOfMap(heat: Heat, now: number): More | null {
    const { summary, columns } = heat;
    for (const { gpus, row } of summary.auto) {
        const entry = entryAt(heat, row, gpus);
        if (gpus <= now || entry < 0 || columns.class[entry] !== 0) continue;
        const [whole_bytes, step_seconds] = [columns.whole_bytes[entry] ?? 0, columns.step_seconds[entry] ?? 0];
        return { gpus, whole_bytes, step_seconds, touches: say('changes.gpus_touch') };
    }
    return null;
}

// Whether the map has every plan.
const isOpen = ({ heatFilter }: Page): boolean => Object.keys(heatFilter).length === 0;

// Once it is known, the fewest GPUs of all, of which "How many GPUs are enough?" tells; beside degrees that the reader keeps, the map, which
// chooses them, may need fewer. What is known of the job before says nothing of this one.
function moreGpus(page: Page, now: number): More | null {
    const { job, heat, heatOf, limits, limitsStale } = page;
    if (!heat || heatOf !== job || !isOpen(page)) return null;
    const fewest = limitsStale ? null : limits?.fewest_gpus;
    const mapped = moreOfMap(heat, now);
    const isFewer = fewest && fewest.gpus > now && !(mapped && mapped.gpus < fewest.gpus);
    return isFewer ? { ...fewest, touches: say('changes.gpus_fewest') } : mapped;
}

const MOST_CHANGES = 5;

// What a step of another plan takes, beside the plan shown; on the first screen how long the whole run then takes, which needs no arithmetic,
// unless it is another training: as many tokens as usual are not as many there.
function timeBeside({ time, equally_good }: Estimate, seconds: number, depth: Depth, isOther = false): string {
    const { step_seconds: now, run } = time;
    if (depth === 'detail' || !run || isOther || isEqual(seconds, now, equally_good.width))
        return stepChange(seconds, now, equally_good.width);
    const days = (run.days * seconds) / now;
    return format.training(days, days, days)[0];
}

// What is known beside the run that is shown: that of the one before, which stays until this is there, says nothing of it.
const besideOf = (alternatives: Alternatives | null, { job }: Estimate): Alternatives | null =>
    alternatives && JSON.stringify(alternatives.job) === JSON.stringify(job) ? alternatives : null;
const changesOf = (alternatives: Alternatives | null, answer: Estimate): Change[] => besideOf(alternatives, answer)?.changes ?? [];

interface Row {
    key: string; // what a press does: a row that does something else is another row
    set: Job;
    label: string;
    effect: string;
    fit: Fit;
    touches: string;
}

const rowOf = (row: Omit<Row, 'key'>): Row => ({ key: JSON.stringify(row.set), ...row });

// The place of a row that is being worked out, so that nothing moves when it comes.
const coming = (key: 'count' | 'list'): Row => ({ key, set: {}, label: '', effect: '', fit: 'fits', touches: '' });

// Those that make it fit first. The first screen has others only once no number of GPUs is known on which a plan fits. Two ways to
// more GPUs would be one too many: the one from the map is known to fit.
function rowsOf(page: Page, answer: Estimate): Row[] {
    const more = answer.class === 'fits' ? null : moreGpus(page, Number(answer.job.gpus));
    const useful = changesOf(page.alternatives, answer).filter((change) => !(more && 'gpus' in change.set));
    const enough = useful.filter((one) => one.class === 'fits');
    const isMapKnown = page.heat !== null && page.heatOf === page.job;
    const areLimitsKnown = page.limitsProblems.length > 0 || (page.limits !== null && !page.limitsStale);
    const isCountComing = answer.class !== 'fits' && !more && isOpen(page) && !(isMapKnown && areLimitsKnown);
    const withOthers = page.depth === 'detail' || (isMapKnown && !isCountComing && more === null && enough.length === 0);
    const list = [...enough, ...(withOthers ? useful.filter((one) => one.class !== 'fits') : [])];
    const rows = list.slice(0, MOST_CHANGES - (more || isCountComing ? 1 : 0)).map((one) =>
        rowOf({
            set: one.set,
            label: tell(one.label),
            effect: say('changes.effect', {
                memory: format.change(-one.saved_bytes),
                time: timeBeside(answer, one.step_seconds, page.depth, 'trained' in one.set),
            }),
            fit: one.class,
            touches: sentences(one.touches && tell(one.touches), page.depth === 'detail' && newPlan(page.catalog, one)),
        }),
    );
    if (!besideOf(page.alternatives, answer)) rows.push(coming('list'));
    if (!more) return isCountComing ? [coming('count'), ...rows] : rows;
    const first = rowOf({
        set: { gpus: more.gpus, ...allAuto(page.catalog) },
        label: say('changes.gpus', { gpus: more.gpus }),
        effect: say('changes.effect_whole', {
            ...sizesOf(more.whole_bytes, answer),
            time: timeBeside(answer, more.step_seconds, page.depth),
        }),
        fit: 'fits',
        touches: more.touches,
    });
    return [first, ...rows];
}

// While a pointer or the keyboard is about to press one, every row of this run stays where it is, and what comes is added below: a press
// does what its row says, however much is worked out meanwhile.
function useHeld(rows: Row[], job: Estimate['job']) {
    const { current } = useRef({ pointer: false, focus: false, job, rows });
    const [, redraw] = useState(0);
    if (current.job !== job) Object.assign(current, { pointer: false, focus: false, job, rows });
    const fresh = new Map(rows.map((row) => [row.key, row]));
    const known = new Set(current.rows.map(({ key }) => key));
    const stay = (): Row[] => [...current.rows.map((row) => fresh.get(row.key) ?? row), ...rows.filter(({ key }) => !known.has(key))];
    current.rows = current.pointer || current.focus ? stay() : rows;
    const hold = (by: 'pointer' | 'focus', on: boolean) => (): void => {
        if (current[by] === on) return;
        current[by] = on;
        if (!on) redraw((times) => times + 1);
    };
    const handlers = {
        onPointerMove: hold('pointer', true),
        onPointerDown: hold('pointer', true),
        onPointerLeave: hold('pointer', false),
        onFocusIn: hold('focus', true),
        onKeyDown: hold('focus', true),
        onFocusOut: hold('focus', false),
    };
    return { shown: current.rows, handlers };
}

interface Props {
    page: Page;
    answer: Estimate;
    act: Actions;
}

// What the best plan comes to beside the reader's own, where it is better: a press drops what the reader has set of the plan.
export function Best({ page, answer, act }: Props) {
    const best = besideOf(page.alternatives, answer)?.auto_plan;
    if (best?.class !== 'fits') return null;
    const { time, equally_good } = answer;
    const slower = best.step_seconds > time.step_seconds || isEqual(best.step_seconds, time.step_seconds, equally_good.width);
    if (answer.class === 'fits' && slower) return null;
    return (
        <Press class="link" onClick={() => act.change(allAuto(page.catalog), 'choose')}>
            {say('plan.best', { time: timeBeside(answer, best.step_seconds, 'plain') })}
        </Press>
    );
}

const Offer = ({ row: { set, label, effect, fit, touches }, act }: { row: Row; act: Actions }) => (
    <li>
        <Press onClick={() => act.change(set, 'choose')}>
            <span>
                <b>{label}</b> {effect} <span class={`word ${fit}`}>{say(`fit.${fit}`)}</span>
            </span>{' '}
            {touches && <small>{touches}</small>}
        </Press>
    </li>
);

// Single changes that lower the memory. What fits already may still want to save.
export function Changes({ page, answer, act }: Props) {
    const fits = answer.class === 'fits';
    const { shown, handlers } = useHeld(rowsOf(page, answer), answer.job);
    if (shown.length === 0 || (fits && page.depth === 'plain')) return null; // nothing has to change
    const buttons = (
        <ul {...handlers}>
            {shown.map((row) =>
                row.label ? (
                    <Offer key={row.key} row={row} act={act} />
                ) : (
                    <li key={row.key} class="coming">
                        {say('later.coming')}
                    </li>
                ),
            )}
        </ul>
    );
    return (
        <div class={page.alternativesStale ? 'changes stale' : 'changes'}>
            {fits ? (
                <Folded title={say('changes.save')}>{buttons}</Folded>
            ) : (
                <>
                    <h2>{say('changes.title')}</h2>
                    {buttons}
                </>
            )}
        </div>
    );
}
