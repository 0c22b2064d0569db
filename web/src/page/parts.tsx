// The parts of every detail that stand folded until the reader wants them.
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { TwoMethods } from '../answer/comparison';
import { StepCurve } from '../answer/curve';
import { TimeTable } from '../answer/time-table';
import type { Estimate } from '../core/api';
import type { Core } from '../core/client';
import { isWhole, type WholeEstimate } from '../core/types';
import { Calibrate } from '../evidence/calibrate';
import { keptRuns, type Typed } from '../evidence/kept-runs';
import { format } from '../format/format';
import { readRun } from '../formats/reader';
import { rateOf } from '../shared/answer-words';
import { nameOf } from '../shared/names';
import type { Actions, Page } from '../store/page';
import { PipelineTimeline } from '../timeline/door';
import { say } from '../words/words';

interface PartProps {
    id?: string;
    title: string;
    small?: string;
    opened: boolean; // until the reader decides otherwise
    children(): ComponentChildren;
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
            {open && children()}
        </details>
    );
}

// The items of a step. A part chosen in the bar opens them and shows its largest.
export function TimePart(props: Parameters<typeof TimeTable>[0]) {
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
            {() => <TimeTable {...props} />}
        </Part>
    );
}

// What is typed outlives the part's folding.
export function CalibratePart({ page, act, calibrate }: { page: Page; act: Actions; calibrate: Core['calibrate'] }) {
    const [typed, setTyped] = useState<Typed>(() => keptRuns(page.job));
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
            {() => <Calibrate page={page} act={act} calibrate={calibrate} readRun={readRun} typed={typed} setTyped={setTyped} />}
        </Part>
    );
}

// How the numbers come about is asked for once they stand.
const Coming = () => <p class="note">{say('later.coming')}</p>;

const bothOf = ({ job, total_bytes, comparison }: WholeEstimate): string =>
    say('part.both', {
        here: total_bytes,
        method: nameOf('method', { id: job.method }),
        there: comparison.total_bytes,
        other: nameOf('method', { id: comparison.method }),
    });

// What the step time counts as waits of the slowest stage.
const waitsOf = ({ time }: Estimate): number =>
    time.items.reduce((sum, { id, seconds }) => sum + (id === 'bubble' || id === 'pipeline_traffic' ? seconds : 0), 0);

interface PartsProps {
    answer: Estimate;
    act: Actions;
    timeline: Core['timeline'];
}

export function Parts({ answer, act, timeline }: PartsProps) {
    const whole = isWhole(answer) ? answer : null;
    return (
        <>
            <Part title={say('part.curve')} opened={answer.stages.length > 1}>
                {() => (whole ? <StepCurve answer={whole} /> : <Coming />)}
            </Part>
            <Part title={say('part.timeline')} opened={answer.stages.length > 1}>
                {() => <PipelineTimeline job={answer.job} counted={waitsOf(answer)} ask={timeline} />}
            </Part>
            <Part title={say('part.methods')} {...(whole && { small: bothOf(whole) })} opened={false}>
                {() => (whole ? <TwoMethods answer={whole} act={act} /> : <Coming />)}
            </Part>
        </>
    );
}
