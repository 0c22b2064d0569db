import { useState } from 'preact/hooks';
import type { Item, Token, Where } from '../api';
import { format } from '../format';
import { t } from '../i18n';
import { m } from '../i18n/more';

type Write = (value: number) => string;

export const tokenText = (tokens: Token[], write: Write = format.number): string =>
    tokens.map((token) => (typeof token === 'object' ? token.symbol : typeof token === 'number' ? write(token) : token)).join('');

export const whereText = ({ symbol, meaning, unit, value, formula }: Where, write: Write = format.number): string =>
    `${symbol} = ${formula ? `${tokenText(formula, write)} = ` : ''}${write(value)}${unit ? ` ${t.unit(value, unit)}` : ''} (${meaning})`;

interface TokensProps {
    tokens: Token[];
    where: Where[];
    write: Write;
    point(symbol: string | null): void;
}

// Every symbol takes the focus and says what it stands for; the same text appears below the formula.
function Tokens({ tokens, where, write, point }: TokensProps) {
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
                        aria-label={meaning ? `${token.symbol}, ${meaning.meaning}` : token.symbol}
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

interface FormulaProps {
    item: { formula: Token[]; numbers: Token[]; where: Where[]; source?: Item['source'] };
    result: string;
    write?: Write;
}

export function Formula({ item, result, write = format.number }: FormulaProps) {
    const [symbol, point] = useState<string | null>(null);
    const meaning = item.where.find((one) => one.symbol === symbol);
    return (
        <>
            <dl class="formula">
                <dt>{m.card.symbols}</dt>
                <dd>
                    <Tokens tokens={item.formula} where={item.where} write={write} point={point} />
                </dd>
                <dt>{m.card.numbers}</dt>
                <dd class="math">{tokenText(item.numbers, write)}</dd>
                <dt>{m.card.result}</dt>
                <dd>{result}</dd>
                {item.source && (
                    <>
                        <dt>{m.card.source}</dt>
                        <dd>
                            <a href={item.source.url}>{item.source.title}</a>
                            {item.source.where && `, ${item.source.where}`}
                        </dd>
                    </>
                )}
            </dl>
            <p class="pointed">{meaning ? whereText(meaning, write) : m.card.point}</p>
            <table class="where">
                <caption>{m.card.where}</caption>
                <tbody>
                    {item.where.map((one) => (
                        <tr key={one.symbol} class={one.symbol === symbol ? 'pointed-at' : undefined}>
                            <th scope="row" class="math">
                                {one.symbol}
                            </th>
                            <td>
                                {one.meaning}
                                {one.formula && (
                                    <span class="math derived">
                                        {' = '}
                                        <Tokens tokens={one.formula} where={item.where} write={write} point={point} />
                                        {one.numbers && ` = ${tokenText(one.numbers, write)}`}
                                    </span>
                                )}
                            </td>
                            <td class="r">
                                {write(one.value)} <small>{t.unit(one.value, one.unit)}</small>
                            </td>
                        </tr>
                    ))}
                </tbody>
            </table>
        </>
    );
}
