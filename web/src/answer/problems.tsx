import { format } from '../format/format';
import { fieldOf, focusField, problemId } from '../shared/field-problems';
import { labelOf, lower, problemText } from '../shared/names';
import { allAuto } from '../state/state';
import type { Actions, Page } from '../store/page';
import { say, tell } from '../words/words';
import { Press } from './press';
import { whoseOf } from './whose';

// A value as the form shows it: numbers in the reader's way, ids by their labels.
function shownValue({ catalog }: Page, value: number | string): string {
    if (typeof value === 'number') return format.number(value);
    const named = [...catalog.gpus, ...catalog.models, ...catalog.clusters].find(({ id }) => id === value);
    return named?.label ?? value;
}

// What mends one problem. Several rules may be mended by one and the same step: it is offered once, where it first helps.
function Remedy({ page, index, act }: { page: Page; index: number; act: Actions }) {
    const problem = page.problems[index];
    if (!problem) return null;
    const { nearest } = problem;
    const field = fieldOf(problem);
    const offered = page.problems.findIndex((other) => other.field === problem.field && other.nearest === nearest) < index;
    if (offered || !field || problem.rule === 'unknown') return null;
    const label = labelOf(page.catalog.fields, field);
    const set = (value: number | string) => act.change({ [problem.field]: value }, 'choose');
    if (problem.candidates) {
        return (
            <span class="candidates">
                {problem.candidates.map((id) => (
                    <Press key={id} onClick={() => set(id)}>
                        {shownValue(page, id)}
                    </Press>
                ))}
            </span>
        );
    }
    if (nearest === null) {
        return (
            <button type="button" onClick={() => focusField(field)}>
                {say('problems.go_to', { label: lower(label) })}
            </button>
        );
    }
    return (
        <Press class="prime" onClick={() => set(nearest)}>
            {say('problems.use', { label, value: shownValue(page, nearest) })}
        </Press>
    );
}

// Where degrees do not divide the GPUs, each that may change instead is another way out of the same problem.
const WAY_OUT = 'gpus_divide';

// What the reader has set of the plan may be given up at once, which no single value mends as surely.
function GiveUp({ page, act }: { page: Page; act: Actions }) {
    const auto = allAuto(page.catalog);
    const isOfPlan = page.problems.some(({ rule, field }) => rule === WAY_OUT || field in auto);
    if (!isOfPlan || whoseOf(page) === 'all') return null;
    return (
        <Press class="link" onClick={() => act.change(auto, 'choose')}>
            {say('problems.auto')}
        </Press>
    );
}

// Every problem at once. The first is the headline; here stand its remedy and all the others.
export function Problems({ page, act }: { page: Page; act: Actions }) {
    const [first, ...others] = page.problems;
    if (!first) return null;
    const suggestion = <span>{tell(first.suggestion)}</span>;
    return (
        <div class="problems">
            <p class="remedy">
                {first.candidates && suggestion}
                <Remedy page={page} index={0} act={act} />
                {!first.candidates && suggestion} <GiveUp page={page} act={act} />
            </p>
            {others.length > 0 && (
                <>
                    {others.some(({ rule }) => rule !== WAY_OUT) && <h2>{say('problems.others', { count: others.length })}</h2>}
                    <ul>
                        {others.map((problem, i) => (
                            <li key={i}>
                                <p id={problemId(i + 1)}>{problemText(problem)}</p>
                                <Remedy page={page} index={i + 1} act={act} />
                            </li>
                        ))}
                    </ul>
                </>
            )}
        </div>
    );
}
