// What is wrong with what a room of its own asks: behind each field, and all of it in a list.
import type { Problem, Refusal } from '../core/api';
import { problemText } from './names';

type Told = object | string | null; // what a room shows: an answer, a refusal, or that there is none yet
const problemsOf = (told: Told): readonly Problem[] =>
    told !== null && typeof told === 'object' && 'problems' in told ? (told as Refusal).problems : [];
const idOf = (field: string): string => `wrong-${field}`;
const firstOf = (told: Told, field: string): Problem | undefined => problemsOf(told).find((problem) => problem.field === field);

// Of a field of the request: what its NumberField is told.
export function wrongAt(told: Told, field: string): { wrong: string | undefined; describedBy: string | undefined } {
    const found = firstOf(told, field);
    return { wrong: found && problemText(found), describedBy: found && idOf(field) };
}

export function Refused({ told, nameOf }: { told: Refusal; nameOf(field: string): string }) {
    return (
        <ul class="problems">
            {problemsOf(told).map((problem) => (
                <li key={problem.field + problem.rule} id={firstOf(told, problem.field) === problem ? idOf(problem.field) : undefined}>
                    <p>
                        <b>{nameOf(problem.field)}</b> {problemText(problem)}
                    </p>
                </li>
            ))}
        </ul>
    );
}
