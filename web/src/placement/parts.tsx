// What the measurement and the search share.
import type { Problem } from '../core/api';
import { problemText } from '../shared/names';
import { say } from '../words/words';

const MOST_SHOWN = 20; // problems

interface SelectProps {
    label: string;
    options: Readonly<Record<string, string>>;
    value: string;
    choose(value: string): void;
}

export function Select({ label, options, value, choose }: SelectProps) {
    return (
        <label>
            {label}{' '}
            <select value={value} onChange={({ currentTarget }) => choose(currentTarget.value)}>
                {Object.entries(options).map(([id, text]) => (
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
