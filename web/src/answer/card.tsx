import type { ComponentChildren } from 'preact';
import type { Item, Token, Where } from '../core/api';
import type { ShownGroup } from '../core/types';
import { format } from '../format/format';
import { CopyButton } from '../shared/copy-button';
import { aboutOf, nameOf, wordsFor } from '../shared/names';
import { useWords } from '../shared/use-words';
import type { Actions, OpenItem } from '../store/page';
import { say } from '../words/words';
import { Formula, tokenText, type Write, whereText } from './formula';

// What an item of memory and one of time have in common.
interface Explained {
    formula: Token[];
    numbers: Token[];
    latex: string;
    latex_numbers: string;
    where: Where[];
    source: Item['source'];
}

interface ExplanationProps {
    item: Explained;
    title: string;
    summary: string;
    result: string;
    latexResult: string; // exact, with its unit
    write: Write;
    children: ComponentChildren; // further buttons
}

const asText = ({ item, title, summary, result, write }: ExplanationProps): string =>
    [
        `${title}: ${summary}`,
        `${tokenText(item.formula, write)} = ${tokenText(item.numbers, write)} = ${result}`,
        ...item.where.map((one) => whereText(one, write)),
        say('card.source_line', { title: item.source.title, where: wordsFor('place', item.source.where), url: item.source.url }),
    ].join('\n');

const asLatex = ({ item, latexResult }: ExplanationProps): string => `${item.latex} = ${item.latex_numbers} = ${latexResult}`;

// The item in one plain sentence, its formula, and both to take along.
export function Explanation(props: ExplanationProps) {
    const { item, summary, result, write, children } = props;
    const symbols = useWords('formulas'); // they come with the first formula that is opened
    return (
        <>
            <p>{summary}</p>
            {symbols ? <Formula item={item} result={result} write={write} /> : <p class="note">{say('later.coming')}</p>}
            <p class="acts">
                {symbols && <CopyButton label={say('card.copy_text')} text={() => asText(props)} />}
                <CopyButton label={say('card.copy_latex')} text={() => asLatex(props)} />
                {children}
            </p>
        </>
    );
}

// The part whose formula is shown: the chosen one, else the largest.
const chosenOf = (group: ShownGroup, open: OpenItem): Item | undefined =>
    group.items.find((item) => item.id === open.item) ?? [...group.items].sort((a, b) => b.bytes - a.bytes)[0];

export interface CardProps {
    group: ShownGroup;
    open: OpenItem;
    act: Actions;
    toAssumptions(): void;
}

export function Card({ group, open, act, toAssumptions }: CardProps) {
    const item = chosenOf(group, open);
    if (!item) return null;
    return (
        <article class={`item-card ${group.id}`} aria-label={nameOf('group', group)}>
            <p>{aboutOf('group', group)}</p>
            {group.items.length > 1 && (
                <table class="parts">
                    <tbody>
                        {group.items.map((one) => (
                            <tr key={one.id}>
                                <th scope="row">
                                    <button
                                        type="button"
                                        class="link"
                                        aria-pressed={one === item}
                                        aria-label={say('card.open', { label: nameOf('item', one) })}
                                        onClick={() => act.open({ group: group.id, item: one.id })}
                                    >
                                        {nameOf('item', one)}
                                    </button>
                                </th>
                                <td class="r">{format.gib(one.bytes)}</td>
                                <td class="r">{format.percent(one.share)}</td>
                            </tr>
                        ))}
                    </tbody>
                </table>
            )}
            {group.items.length > 1 && <h3>{nameOf('item', item)}</h3>}
            <Explanation
                item={item}
                title={nameOf('item', item)}
                summary={aboutOf('item', item)}
                result={say('card.result_text', { exact: format.bytes(item.bytes), gib: format.gib(item.bytes) })}
                write={format.number}
                latexResult={`${item.bytes}\\ \\text{bytes}`}
            >
                <button type="button" onClick={toAssumptions}>
                    {say('card.assumptions')}
                </button>
                <button type="button" onClick={() => act.open(null)}>
                    {say('card.close')}
                </button>
            </Explanation>
        </article>
    );
}
