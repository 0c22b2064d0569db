import type { TextField } from '../core/api';
import { format } from '../format/format';
import { problemAttributes } from '../shared/field-problems';
import { choiceHelp, choiceName, fieldHelp, fieldName } from '../shared/names';
import { type Chunk, chunksOf, isVShaped, moveLayer, parseLayout, placeOf, writeLayout } from '../state/layout';
import type { Actions, Page } from '../store/page';
import { listed, say } from '../words/words';
import { chosenText } from './chosen';

// Which layers stand on which stage: chosen, even, or the reader's own, as a text or layer by layer.
export interface LayoutProps {
    page: Page;
    field: TextField;
    act: Actions;
}

const OWN = 'own';
const MOST_STEPPERS = 64; // chunks; of more the text alone can be edited

// The chunks of the text as it is being edited, else those of the plan shown.
function chunksNow({ job, answer }: Page): Chunk[] | null {
    const written = parseLayout(String(job.layout));
    return written ?? (answer && chunksOf(answer));
}

interface CellProps {
    chunks: readonly Chunk[];
    at: number;
    where(position: number): { stage: number; chunk: number }; // counted from one
    several: boolean; // chunks on a stage
    move(at: number, more: boolean): void;
}

function Cell({ chunks, at, where, several, move }: CellProps) {
    const { embedding, layers, predictions, loss } = chunks[at] as Chunk;
    const neighbour = at < chunks.length - 1 ? at + 1 : at - 1;
    const extra = listed([
        embedding && say('layout.embedding'),
        predictions > 0 && say('layout.predictions', { count: predictions }),
        loss && say('layout.loss'),
    ]);
    const other = where(neighbour);
    const places = { ...where(at), chunks: several, other_stage: other.stage, other_chunk: other.chunk };
    const button = (more: boolean) => (
        <button
            type="button"
            aria-label={say(more ? 'layout.more' : 'layout.less', places)}
            aria-disabled={moveLayer(chunks, at, more) === null}
            onClick={() => move(at, more)}
        >
            {more ? '+' : '−'}
        </button>
    );
    const steps = chunks.length <= MOST_STEPPERS;
    return (
        <td>
            {steps && button(false)} <b>{format.count(layers)}</b> {steps && button(true)} {extra && <small>{extra}</small>}
        </td>
    );
}

function Strip({ page, chunks, act }: { page: Page; chunks: readonly Chunk[]; act: Actions }) {
    const stages = Number(page.answer?.job.pipeline_parallel);
    const perStage = Math.round(chunks.length / stages);
    if (stages * perStage !== chunks.length) return null;
    const places = chunks.map((_, position) => placeOf(position, stages, page.answer !== null && isVShaped(page.answer)));
    const where = (position: number): { stage: number; chunk: number } => {
        const { stage = 0, chunk = 0 } = places[position] ?? {};
        return { stage: stage + 1, chunk: chunk + 1 };
    };
    // The layout belongs to this pipeline: another number of stages or chunks could not keep it.
    const move = (at: number, more: boolean): void => {
        const moved = moveLayer(chunks, at, more);
        if (moved) act.change({ layout: writeLayout(moved), pipeline_parallel: stages, virtual_stages: perStage }, 'choose');
    };
    const columns = Array.from({ length: perStage }, (_, chunk) => chunk);
    const at = (stage: number, chunk: number): number => places.findIndex((one) => one.stage === stage && one.chunk === chunk);
    return (
        <details class="layers">
            <summary>{say('layout.table')}</summary>
            {chunks.length <= MOST_STEPPERS && <p class="note">{say('layout.steps')}</p>}
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reached by the keyboard */}
            <section class="scroll" aria-label={say('layout.table')} tabIndex={0}>
                <table>
                    <thead>
                        <tr>
                            <th scope="col">{say('layout.stage')}</th>
                            {columns.map((chunk) => (
                                <th key={chunk} scope="col">
                                    {perStage > 1 ? say('layout.chunk', { chunk: chunk + 1 }) : say('layout.layers')}
                                </th>
                            ))}
                        </tr>
                    </thead>
                    <tbody>
                        {Array.from({ length: stages }, (_, stage) => (
                            <tr key={stage}>
                                <th scope="row">{format.count(stage + 1)}</th>
                                {columns.map((chunk) => (
                                    <Cell
                                        key={chunk}
                                        chunks={chunks}
                                        at={at(stage, chunk)}
                                        where={where}
                                        several={perStage > 1}
                                        move={move}
                                    />
                                ))}
                            </tr>
                        ))}
                    </tbody>
                </table>
            </section>
        </details>
    );
}

export function Layout({ page, field, act }: LayoutProps) {
    const value = String(page.job[field.key] ?? field.default);
    const special = ['auto', ...(field.choices ?? []).map(({ id }) => id)];
    const own = !special.includes(value);
    const chosen = field.choices?.find(({ id }) => id === value);
    const chunks = chunksNow(page);
    const { invalid, describedBy } = problemAttributes(page, field.key);
    const described = ['field-layout-help', describedBy].filter(Boolean).join(' ');
    const choose = (id: string): void =>
        act.change({ [field.key]: id === OWN ? (chunks ? writeLayout(chunks) : String(page.answer?.job.layout ?? '')) : id }, 'choose');
    return (
        <div class="field layout">
            <label for="field-layout">{fieldName(field)}</label>
            <select
                id="field-layout"
                value={own ? OWN : value}
                aria-invalid={invalid}
                aria-describedby={described}
                onChange={(event) => choose(event.currentTarget.value)}
            >
                <option value="auto">{chosenText(page, field)}</option>
                {(field.choices ?? []).map((choice) => (
                    <option key={choice.id} value={choice.id} selected={choice.id === value} title={choiceHelp(field, choice)}>
                        {choiceName(field, choice)}
                    </option>
                ))}
                <option value={OWN} selected={own}>
                    {say('layout.own')}
                </option>
            </select>
            {own && (
                <input
                    type="text"
                    class="notation"
                    aria-label={say('layout.text')}
                    aria-invalid={invalid}
                    aria-describedby={described}
                    autocomplete="off"
                    spellcheck={false}
                    value={value}
                    onInput={(event) => act.change({ [field.key]: event.currentTarget.value }, 'type')}
                />
            )}
            <p id="field-layout-help" class="note">
                {own ? say('layout.help') : chosen ? choiceHelp(field, chosen) : fieldHelp(field)}
            </p>
            {chunks && <Strip page={page} chunks={chunks} act={act} />}
        </div>
    );
}
