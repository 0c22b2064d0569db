import { useState } from 'preact/hooks';
import type { Item, Token, Where } from '../api';
import { format } from '../format';
import { t } from '../i18n';
import { m } from '../i18n/more';

export const tokenText = (tokens: Token[]): string =>
    tokens.map((token) => (typeof token === 'object' ? token.symbol : typeof token === 'number' ? format.number(token) : token)).join('');

export const whereText = ({ symbol, meaning, unit, value, formula }: Where): string =>
    `${symbol} = ${formula ? `${tokenText(formula)} = ` : ''}${format.number(value)}${unit ? ` ${t.unit(value, unit)}` : ''} (${meaning})`;

interface TokensProps {
    tokens: Token[];
    where: Where[];
    point(symbol: string | null): void;
}

// Every symbol takes the focus and says what it stands for; the same text appears below the formula.
function Tokens({ tokens, where, point }: TokensProps) {
    return (
        <span class="math">
            {tokens.map((token, i) => {
                // biome-ignore-start lint/suspicious/noArrayIndexKey: the tokens of a formula have no other identity than their place
                if (typeof token !== 'object') return <span key={i}>{typeof token === 'number' ? format.number(token) : token}</span>;
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

export function Formula({ item }: { item: Item }) {
    const [symbol, point] = useState<string | null>(null);
    const meaning = item.where.find((one) => one.symbol === symbol);
    return (
        <>
            <dl class="formula">
                <dt>{m.card.symbols}</dt>
                <dd>
                    <Tokens tokens={item.formula} where={item.where} point={point} />
                </dd>
                <dt>{m.card.numbers}</dt>
                <dd class="math">{tokenText(item.numbers)}</dd>
                <dt>{m.card.result}</dt>
                <dd>{m.card.resultText(format.bytes(item.bytes), format.gib(item.bytes))}</dd>
                <dt>{m.card.source}</dt>
                <dd>
                    <a href={item.source.url}>{item.source.title}</a>
                    {item.source.where && `, ${item.source.where}`}
                </dd>
            </dl>
            <p class="pointed">{meaning ? whereText(meaning) : m.card.point}</p>
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
                                        <Tokens tokens={one.formula} where={item.where} point={point} />
                                        {one.numbers && ` = ${tokenText(one.numbers)}`}
                                    </span>
                                )}
                            </td>
                            <td class="r">
                                {format.number(one.value)} <small>{t.unit(one.value, one.unit)}</small>
                            </td>
                        </tr>
                    ))}
                </tbody>
            </table>
        </>
    );
}
