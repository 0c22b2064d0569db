// What the measurement and the search share.
import type { Problem } from '../core/api';
import { problemText } from '../shared/names';
import { say } from '../words/words';

const MOST_SHOWN = 20; // problems

interface SelectProps<Id extends string> {
    label: string;
    options: readonly { id: Id; text: string }[];
    value: Id;
    choose(value: Id): void;
}

export function Select<Id extends string>({ label, options, value, choose }: SelectProps<Id>) {
    return (
        <label>
            {label}{' '}
            <select value={value} onChange={({ currentTarget }) => choose(currentTarget.value as Id)}>
                {options.map(({ id, text }) => (
                    <option key={id} value={id} selected={id === value}>
                        {text}
                    </option>
                ))}
            </select>
        </label>
    );
}

export function Problems({ title, problems }: { title: string; problems: readonly Problem[] }) {
    const shown = problems.slice(0, MOST_SHOWN);
    const more = problems.length - shown.length;
    return (
        <div class="wrong">
            <h4>{title}</h4>
            <ul>
                {shown.map((problem) => (
                    <li key={problem.field + problem.rule + problemText(problem)}>{problemText(problem)}</li>
                ))}
                {more > 0 && <li>{say('placement.measure.others', { count: more })}</li>}
            </ul>
        </div>
    );
}
