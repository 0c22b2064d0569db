import { useRef, useState } from 'preact/hooks';
import { format } from '../format/format';
import type { Kind } from '../format/typed';
import type { Value } from '../state/state';
import type { How } from '../store/page';
import { say } from '../words/words';
import { afterPress, watchPresses } from './press';

interface Props {
    id: string;
    label: string;
    value: Value;
    auto?: boolean; // an empty field, or the word, means "auto"
    none?: boolean; // 0 stands for nothing given: an empty field too
    decimals?: { min: number; max: number }; // a number that need not be whole
    kind?: Kind; // how it may be written; a count where nothing is said
    wrong?: string | undefined; // what is wrong with it, said at the field
    placeholder?: string;
    describedBy?: string | undefined;
    invalid: boolean;
    apart?: (text: string) => string; // of a text that says more than the number: the number
    onChange(value: Value, how: How, text: string): void;
}

const TENTHS = 10;
const IN_WORDS = 1e6;

// A number, typed as people write it. What is no number stays as it was typed and goes to the core, which says what is wrong with it.
export function NumberField({
    id,
    label,
    value,
    auto = false,
    none = false,
    decimals,
    kind = { whole: !decimals },
    wrong,
    placeholder,
    describedBy,
    invalid,
    apart = (text) => text,
    onChange,
}: Props) {
    const [draft, setDraft] = useState<string | null>(null);
    const fresh = useRef(false); // a click into the field has just given it the focus
    const read = (text: string): Value => {
        if (auto && /^\s*(auto|自動|自动)?\s*$/i.test(text)) return 'auto';
        const number = format.read(apart(text), kind);
        return typeof number === 'number' ? number : format.read(text, kind);
    };
    // A large amount stands in words where they say it exactly: 15 trillion. What is wrong with a count that is not whole must be seen.
    const write = (size: number): string => {
        const words = decimals || size < IN_WORDS ? '' : format.short(size, 4); // 11.93 trillion
        return words && read(words) === size ? words : format.number(size);
    };
    const empty = value === 'auto' || (none && value === 0);
    const written = empty ? '' : typeof value === 'number' ? write(value) : String(value ?? '');
    // The draft holds only as long as it means the current value: a change from elsewhere shows at once.
    const shown = draft !== null && read(draft) === value ? draft : written;
    const stepped = (now: number, up: boolean): number => {
        if (!decimals) return up ? now * 2 : Math.max(1, Math.floor(now / 2));
        const next = Math.round(now * TENTHS + (up ? 1 : -1)) / TENTHS;
        return Math.min(decimals.max, Math.max(decimals.min, next));
    };
    const step = (event: KeyboardEvent) => {
        if (event.key === 'Enter') setDraft(null);
        if (typeof value !== 'number' || (event.key !== 'ArrowUp' && event.key !== 'ArrowDown')) return;
        event.preventDefault();
        setDraft(null);
        onChange(stepped(value, event.key === 'ArrowUp'), 'type', '');
    };
    return (
        <>
            <input
                id={id}
                class="number"
                type="text"
                inputmode={decimals ? 'decimal' : 'numeric'}
                autocomplete="off"
                spellcheck={false}
                maxLength={32}
                size={Math.max(1, shown.length || (placeholder?.length ?? 0))}
                aria-label={label}
                title={decimals ? say('form.arrows_tenth') : say('form.arrows')}
                aria-invalid={invalid}
                aria-describedby={describedBy}
                placeholder={placeholder}
                value={shown}
                onFocus={(event) => {
                    watchPresses();
                    fresh.current = true;
                    event.currentTarget.select();
                }}
                onMouseUp={(event) => {
                    // In WebKit what is selected is let go after the click.
                    const { selectionStart, selectionEnd, value } = event.currentTarget;
                    if (fresh.current && selectionStart === 0 && selectionEnd === value.length) event.preventDefault();
                }}
                onClick={({ currentTarget }) => {
                    // Elsewhere the press has put the caret where it was and let the selection go.
                    if (fresh.current && currentTarget.selectionStart === currentTarget.selectionEnd) currentTarget.select();
                    fresh.current = false;
                }}
                onInput={(event) => {
                    setDraft(event.currentTarget.value);
                    onChange(read(event.currentTarget.value), 'type', event.currentTarget.value);
                }}
                onBlur={() => afterPress(() => setDraft(null))}
                onKeyDown={step}
            />
            {wrong && (
                <span class="why-wrong" aria-hidden="true">
                    {wrong}
                </span>
            )}
        </>
    );
}
