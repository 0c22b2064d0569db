import { useState } from 'preact/hooks';
import type { Explained, Token, Where } from '../core/api';
import { unitText, wordsFor } from '../shared/names';
import { say, tell } from '../words/words';

export type Write = (value: number) => string;

export type Whole = Required<Explained>;
// They come together, or not at all (core/contract/api.md, EstimateRequest).
export const explained = (item: Explained): Whole | null => (item.formula ? (item as Whole) : null);

export const tokenText = (tokens: Token[], write: Write): string =>
    tokens.map((token) => (typeof token === 'object' ? token.symbol : typeof token === 'number' ? write(token) : token)).join('');

// What a symbol stands for; of one of several alike with the part of the model: "rows: output of attention".
export const meaningOf = ({ meaning, part }: Where): string =>
    part ? tell({ id: `symbol.${meaning}.of`, args: { part: { id: `part.${part}` } } }) : wordsFor('symbol', meaning);

export function whereText(where: Where, write: Write): string {
    const { symbol, unit, value, formula } = where;
    const amount = [write(value), unit && unitText(value, unit)].filter(Boolean).join(' ');
    return `${[symbol, ...(formula ? [tokenText(formula, write)] : []), amount].join(' = ')} (${meaningOf(where)})`;
}

interface TokensProps {
    tokens: Token[];
    where: Where[];
    write: Write;
    point(symbol: string | null): void;
    inList?: boolean;
}

// Every symbol says what it stands for when pointed at; the same text appears below the formula. Those of the formula itself take the
// focus; the definitions in the list below can be hundreds, and each symbol has its own row there.
function Tokens({ tokens, where, write, point, inList }: TokensProps) {
    return (
        <span class="math">
            {tokens.map((token, i) => {
                // biome-ignore-start lint/suspicious/noArrayIndexKey: the tokens of a formula have no other identity than their place
                if (typeof token !== 'object') return <span key={i}>{typeof token === 'number' ? write(token) : token}</span>;
                const meaning = where.find((one) => one.symbol === token.symbol);
                return (
                    <button
                        key={i}
                        type="button"
                        class="symbol"
                        tabIndex={inList ? -1 : undefined}
                        aria-label={meaning ? `${token.symbol}, ${meaningOf(meaning)}` : token.symbol}
                        onMouseEnter={() => point(token.symbol)}
                        onMouseLeave={() => point(null)}
                        onFocus={() => point(token.symbol)}
                        onBlur={() => point(null)}
                        onClick={() => point(token.symbol)}
                    >
                        {token.symbol}
                    </button>
                );
                // biome-ignore-end lint/suspicious/noArrayIndexKey: see above
            })}
        </span>
    );
}

const MOST_SHOWN = 16; // rows of a list of symbols

interface FormulaProps {
    item: Whole;
    result: string;
    write: Write;
}

export function Formula({ item, result, write }: FormulaProps) {
    const [symbol, point] = useState<string | null>(null);
    const meaning = item.where.find((one) => one.symbol === symbol);
    // A long list shows the symbols of the formula itself; those behind their definitions are folded.
    const direct = new Set(item.formula.map((token) => (typeof token === 'object' ? token.symbol : null)));
    const [shown, further] =
        item.where.length > MOST_SHOWN
            ? [item.where.filter((one) => direct.has(one.symbol)), item.where.filter((one) => !direct.has(one.symbol))]
            : [item.where, []];
    const table = (list: Where[]) => (
        <table class="where">
            <caption>{say('card.where')}</caption>
            <tbody>
                {list.map((one) => (
                    <tr key={one.symbol} class={one.symbol === symbol ? 'pointed-at' : undefined}>
                        <th scope="row" class="math">
                            {one.symbol}
                        </th>
                        <td>
                            {meaningOf(one)}
                            {one.formula && (
                                <span class="math derived">
                                    {' = '}
                                    <Tokens tokens={one.formula} where={item.where} write={write} point={point} inList />
                                    {one.numbers && ` = ${tokenText(one.numbers, write)}`}
                                </span>
                            )}
                        </td>
                        <td class="r">
                            {write(one.value)} <small>{unitText(one.value, one.unit)}</small>
                        </td>
                    </tr>
                ))}
            </tbody>
        </table>
    );
    return (
        <>
            <dl class="formula">
                <dt>{say('card.symbols')}</dt>
                <dd>
                    <Tokens tokens={item.formula} where={item.where} write={write} point={point} />
                </dd>
                <dt>{say('card.numbers')}</dt>
                <dd class="math">{tokenText(item.numbers, write)}</dd>
                <dt>{say('card.result')}</dt>
                <dd>{result}</dd>
                <dt>{say('card.source')}</dt>
                <dd>
                    <a href={item.source.url}>{item.source.title}</a>, {wordsFor('place', item.source.where)}
                </dd>
            </dl>
            <p class="pointed">{meaning ? whereText(meaning, write) : say('card.point')}</p>
            {table(shown)}
            {further.length > 0 && (
                <details class="further">
                    <summary>{say('card.further', { count: further.length })}</summary>
                    {table(further)}
                </details>
            )}
        </>
    );
}
