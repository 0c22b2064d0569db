import type { RunRead } from '../core/api';
import { lineOf } from '../shared/answer-words';
import type { Page } from '../store/page';
import { say, tell } from '../words/words';
import {
    type Against,
    againstArgs,
    type Cards,
    cardsArgs,
    cardTexts,
    numberRows,
    otherCards,
    otherGpus,
    quantityName,
    seriesText,
    verdictTexts,
} from './run-words';

export { comparedWith } from './compared';

// What a run printed, and what it means for the plan of the page.
interface Props {
    run: RunRead;
    against: Against;
    asks?: boolean; // the script beside it leaves something open
    page: Pick<Page, 'job' | 'catalog'>;
    measure(text: string): void;
    useCards(cards: Cards): void;
}

export function RunReport({ run, against, asks = false, page, measure, useCards }: Props) {
    const rows = numberRows(run);
    const cards = otherCards(run, page);
    const answer = against?.answer;
    const changes = against?.alternatives?.changes ?? [];
    return (
        <div class="imported">
            <h3>{run.ended !== null ? say('run.died') : say('run.ran')}</h3>
            <p class="note">
                {against
                    ? say('run.against', { ...againstArgs(against), script: against.script === true })
                    : say('run.not_compared', { asks })}
            </p>
            {[
                ...cardTexts(run, page, against !== null),
                ...(against ? otherGpus(run, against.job) : []),
                ...verdictTexts(run, changes, answer ? lineOf(answer) : 1),
            ].map((text) => (
                <p key={text}>{text}</p>
            ))}
            {cards && (
                <p class="acts">
                    <button type="button" onClick={() => useCards(cards)}>
                        {say('run.use_cards', cardsArgs(run, page))}
                    </button>
                </p>
            )}
            {run.series.length > 0 && (
                <dl>
                    {run.series.map((one) => (
                        <div key={one.quantity}>
                            <dt>{quantityName(one)}</dt>
                            <dd>{seriesText(one)}</dd>
                        </div>
                    ))}
                </dl>
            )}
            {run.notes.length > 0 && (
                <ul class="note">
                    {run.notes.map((text) => (
                        <li key={text.id}>{tell(text)}</li>
                    ))}
                </ul>
            )}
            {run.runs_text !== '' && (
                <p class="acts">
                    <button type="button" onClick={() => measure(run.runs_text)}>
                        {say('run.measure')}
                    </button>
                </p>
            )}
            {rows.length > 0 && (
                <details>
                    <summary>{say('run.numbers', { count: rows.length })}</summary>
                    <table>
                        <thead>
                            <tr>
                                <th scope="col">{say('paste.script.line')}</th>
                                <th scope="col">{say('run.read_as')}</th>
                                <th scope="col">{say('run.written')}</th>
                                <th scope="col">{say('run.rank')}</th>
                            </tr>
                        </thead>
                        <tbody>
                            {rows.map((row, i) => (
                                <tr key={i}>
                                    {row.map((cell, column) => (
                                        <td key={column}>{cell}</td>
                                    ))}
                                </tr>
                            ))}
                        </tbody>
                    </table>
                </details>
            )}
        </div>
    );
}
