import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { Explained, Item } from '../core/api';
import type { ShownGroup } from '../core/types';
import { format } from '../format/format';
import { CopyButton } from '../shared/copy-button';
import { aboutOf, nameOf, wordsFor } from '../shared/names';
import { useWords } from '../shared/use-words';
import type { Actions, OpenItem } from '../store/page';
import { say } from '../words/words';
import { explained, Formula, tokenText, type Whole, type Write, whereText } from './formula';

interface ExplanationProps {
    item: Explained;
    explain(): void; // it is to be explained, and is not yet
    title: string;
    summary: string;
    result: string;
    latexResult: string; // exact, with its unit
    write: Write;
    children: ComponentChildren; // further buttons
}

const asText = (item: Whole, { title, summary, result, write }: ExplanationProps): string =>
    [
        `${title}: ${summary}`,
        `${tokenText(item.formula, write)} = ${tokenText(item.numbers, write)} = ${result}`,
        ...item.where.map((one) => whereText(one, write)),
        say('card.source_line', { title: item.source.title, where: wordsFor('place', item.source.where), url: item.source.url }),
    ].join('\n');

const asLatex = (item: Whole, { latexResult }: ExplanationProps): string => `${item.latex} = ${item.latex_numbers} = ${latexResult}`;

// The item in one plain sentence, its formula, and both to take along.
export function Explanation(props: ExplanationProps) {
    const { summary, result, write, children, explain } = props;
    const item = explained(props.item);
    const symbols = useWords('formulas'); // they come with the first formula that is opened
    const isMissing = item === null;
    useEffect(() => {
        if (isMissing) explain();
    }, [isMissing, explain]);
    return (
        <>
            <p>{summary}</p>
            {item && symbols ? <Formula item={item} result={result} write={write} /> : <p class="note">{say('later.coming')}</p>}
            <p class="acts">
                {item && symbols && <CopyButton label={say('card.copy_text')} text={() => asText(item, props)} />}
                {item && <CopyButton label={say('card.copy_latex')} text={() => asLatex(item, props)} />}
                {children}
            </p>
        </>
    );
}

// The part whose formula is shown: the chosen one, else the largest.
const chosenOf = (group: ShownGroup, open: OpenItem): Item | undefined =>
    group.items.find((item) => item.id === open.item) ?? [...group.items].sort((a, b) => b.bytes - a.bytes)[0];

// The card goes; the focus returns to what opened it, a row of the table or a part of the bar.
function shut(card: Element | null, { id }: ShownGroup, { open }: Actions): void {
    const row = card?.closest('tr.detail')?.previousElementSibling?.querySelector('button');
    open(null);
    (row ?? document.querySelector<SVGElement>(`.bar .${id}`))?.focus();
}

// Wherever the focus is on the page, unless it is where Escape means something else. From the moment that it can be seen.
function useEscape(then: () => void): void {
    useLayoutEffect(() => {
        const onKeyDown = ({ key, target }: KeyboardEvent): void => {
            if (key === 'Escape' && !(target instanceof Element && target.closest('dialog, input, select, textarea'))) then();
        };
        document.addEventListener('keydown', onKeyDown);
        return () => document.removeEventListener('keydown', onKeyDown);
    });
}

export interface CardProps {
    group: ShownGroup;
    open: OpenItem;
    act: Actions;
    toAssumptions(): void;
}

export function Card({ group, open, act, toAssumptions }: CardProps) {
    const item = chosenOf(group, open);
    const card = useRef<HTMLElement>(null);
    const close = () => shut(card.current, group, act);
    useEscape(close);
    if (!item) return null;
    return (
        <article ref={card} class={`item-card ${group.id}`} aria-label={nameOf('group', group)}>
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
                explain={act.explain}
                title={nameOf('item', item)}
                summary={aboutOf('item', item)}
                result={say('card.result_text', { exact: format.bytes(item.bytes), gib: format.gib(item.bytes) })}
                write={format.number}
                latexResult={`${item.bytes}\\ \\text{bytes}`}
            >
                <button type="button" onClick={toAssumptions}>
                    {say('card.assumptions')}
                </button>
                <button type="button" onClick={close}>
                    {say('card.close')}
                </button>
            </Explanation>
        </article>
    );
}
