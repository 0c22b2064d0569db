// The measurement of the links: how it comes in, and what was read.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { CollectivesRead, Refusal } from '../core/api';
import { latestOnly } from '../core/client';
import type { LinksSaid, Measured } from '../core/types';
import { format } from '../format/format';
import { nameOf, wordsFor } from '../shared/names';
import { say } from '../words/words';
import { LINK_UNITS } from './link-units';
import { Problems, Select } from './parts';
import { exampleText, type Placing } from './search';

const CALM_MS = 300; // a line that is being typed is no mistake yet
const MOST_TYPED = 200_000; // characters that a field lays out at once; a longer measurement is held unseen
const MOST_BYTES = 33_000_000; // of a file; the core takes a little less, and says so
const FORMATS = ['nccl_tests', 'osu', 'mpigraph', 'table', 'json'] as const;
const ROWS_ARE = ['auto', 'nodes', 'gpus'] as const;

export interface Source {
    text: string;
    said: LinksSaid;
    file: string | null; // the name of one that is too long to be shown
    example: boolean;
}
export const EMPTY: Source = { text: '', said: { unit: 'auto', units: 'auto' }, file: null, example: false };

export type Read = Measured | CollectivesRead | Refusal | 'crashed' | null;

// Asks for the newest text only; what is shown belongs to the source beside it.
export function useReading(source: Source, measure: Placing['measure']): { read: Read; reading: boolean } {
    const [known, learn] = useState<{ source: Source; read: Read }>({ source, read: null });
    const newest = useRef(source);
    newest.current = source;
    const asking = useRef<((source: Source) => void) | undefined>(undefined);
    useEffect(() => {
        if (source.text.trim() === '') {
            learn({ source, read: null });
            return;
        }
        asking.current ??= latestOnly(
            ({ text, said }: Source): Promise<Read> => measure(text, said),
            (read, of) => of === newest.current && learn({ source: of, read }),
            () => learn({ source: newest.current, read: 'crashed' }),
        );
        const timer = setTimeout(() => asking.current?.(source), CALM_MS);
        return () => clearTimeout(timer);
    }, [source]);
    return { read: known.read, reading: known.source !== source };
}

export function Formats() {
    return (
        <details>
            <summary>{say('placement.measure.understood')}</summary>
            <dl class="formats note">
                {FORMATS.map((id) => (
                    <div key={id}>
                        <dt>{say(`placement.measure.format.${id}.name`)}</dt>
                        <dd>{say(`placement.measure.format.${id}.how`)}</dd>
                    </div>
                ))}
            </dl>
        </details>
    );
}

interface InputProps {
    source: Source;
    set(source: Source): void;
    invalid: boolean;
}

export function Input({ source, set, invalid }: InputProps) {
    const [over, setOver] = useState(false);
    const take = async (file: File | undefined) => {
        if (!file) return;
        const text = await file.slice(0, MOST_BYTES).text();
        set({ ...EMPTY, text, file: text.length > MOST_TYPED ? file.name : null });
    };
    return (
        // biome-ignore lint/a11y/useSemanticElements: a field and what stands beside it, no form
        <div
            role="group"
            aria-label={say('placement.measure.title')}
            class={over ? 'drop over' : 'drop'}
            onDragOver={(event) => {
                event.preventDefault();
                setOver(true);
            }}
            onDragLeave={() => setOver(false)}
            onDrop={(event) => {
                // Elsewhere on the page a dropped file is a model's config.
                event.preventDefault();
                event.stopPropagation();
                setOver(false);
                take(event.dataTransfer?.files[0]);
            }}
        >
            {source.file ? (
                <p class="held">{say('placement.measure.held', { name: source.file, megabytes: format.megabytes(source.text.length) })}</p>
            ) : (
                <textarea
                    aria-label={say('placement.measure.label')}
                    aria-describedby="links-read"
                    aria-invalid={invalid}
                    placeholder={say('placement.measure.label')}
                    rows={8}
                    spellcheck={false}
                    wrap="off"
                    value={source.text}
                    onInput={({ currentTarget: { value } }) =>
                        set({
                            ...source,
                            text: value,
                            example: false,
                            file: value.length > MOST_TYPED ? say('placement.measure.pasted') : null,
                        })
                    }
                />
            )}
            <Choices source={source} set={set} take={take} />
        </div>
    );
}

function Choices({ source, set, take }: Omit<InputProps, 'invalid'> & { take(file: File | undefined): void }) {
    const { said } = source;
    const picker = useRef<HTMLInputElement>(null);
    return (
        <div class="row acts">
            <button type="button" onClick={() => picker.current?.click()}>
                {say('placement.measure.file')}
            </button>
            <input
                ref={picker}
                class="sr"
                type="file"
                tabIndex={-1}
                aria-hidden="true"
                onChange={({ currentTarget }) => {
                    take(currentTarget.files?.[0]);
                    currentTarget.value = '';
                }}
            />
            {source.text === '' ? (
                <button
                    type="button"
                    onClick={() => set({ ...EMPTY, text: exampleText(say('placement.measure.example_text')), example: true })}
                >
                    {say('placement.measure.example')}
                </button>
            ) : (
                <button type="button" onClick={() => set(EMPTY)}>
                    {say('placement.measure.clear')}
                </button>
            )}
            <Select
                label={say('placement.measure.unit')}
                options={LINK_UNITS.map((id) => ({ id, text: say(`placement.measure.units.${id}`) }))}
                value={said.unit}
                choose={(unit) => set({ ...source, said: { ...said, unit } })}
            />
            <Select
                label={say('placement.measure.rows')}
                options={ROWS_ARE.map((id) => ({ id, text: say(`placement.measure.rows_are.${id}`) }))}
                value={said.units}
                choose={(units) => set({ ...source, said: { ...said, units } })}
            />
        </div>
    );
}

export function Reading({ read, reading, source }: { read: Read; reading: boolean; source: Source }) {
    return (
        <div id="links-read" class="proposal" role="status">
            {source.example && <p class="note">{say('placement.measure.example_note')}</p>}
            {reading && source.text !== '' && read === null && <p class="note">{say('placement.measure.reading')}</p>}
            {read === 'crashed' && <p>{say('placement.measure.crashed')}</p>}
            {read && read !== 'crashed' && !read.ok && (
                <Problems title={say('placement.measure.unreadable', { count: read.problems.length })} problems={read.problems} />
            )}
            {read && read !== 'crashed' && read.ok && 'names' in read && (
                <p class="note">
                    {say('placement.measure.read', {
                        format: nameOf('choice.format', read.format),
                        count: read.names.length,
                        gpus: read.gpus,
                        unit: say(`placement.measure.units.${read.unit}`),
                        source: wordsFor('unit_source', read.unit_source),
                    })}
                </p>
            )}
        </div>
    );
}
