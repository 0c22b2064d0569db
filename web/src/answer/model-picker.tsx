import { useEffect, useRef, useState } from 'preact/hooks';
import type { CatalogModel } from '../core/api';
import { format } from '../format/format';
import { say } from '../words/words';
import { repositoryOf, sameRepository } from './hub-id';
import { search } from './model-search';

interface Props {
    models: CatalogModel[];
    value: string;
    label: string; // of the model in use
    describedBy?: string | undefined;
    invalid: boolean;
    onChoose(id: string): void;
    onPaste(text?: string): void; // of a config.json or a script, which people paste where a model is asked for; or the id of a repository
}

const PASTE = '';
const FROM_HUB = 'hub:'; // no id of a model has a colon
// A config.json, a script, a recipe, a log: not what somebody searches for.
const LONGEST_NAME = 200;
const isFile = (text: string): boolean => {
    const whole = text.trim();
    return whole.startsWith('{') || whole.includes('\n') || whole.length > LONGEST_NAME;
};

// A list with search (the combobox pattern of the ARIA practices): the field shows the model in use, typing narrows the list, and the
// last entry always leads to the paste dialog. So does the id of a repository that is not here; nothing is sent before a click there.
export function ModelPicker({ models, value, label, describedBy, invalid, onChoose, onPaste }: Props) {
    const [query, setQuery] = useState<string | null>(null); // null: closed
    const [active, setActive] = useState(0);
    const input = useRef<HTMLInputElement>(null);
    const list = useRef<HTMLUListElement>(null);
    const open = query !== null;
    const repository = repositoryOf(query ?? '');
    const found = search(models, repository ?? query ?? '');
    const elsewhere = repository !== null && !found.some((model) => sameRepository(model.repository, repository));
    const ids = [...found.map((model) => model.id), ...(elsewhere ? [FROM_HUB] : []), PASTE];
    const show = () => {
        if (open) return;
        setQuery('');
        setActive(
            Math.max(
                0,
                models.findIndex((model) => model.id === value),
            ),
        );
        input.current?.select();
    };
    const close = () => setQuery(null);
    const pasted = (text: string) => {
        close();
        onPaste(text);
    };
    const take = (id: string | undefined) => {
        close();
        if (id === undefined) return;
        if (id === PASTE) onPaste();
        else if (id === FROM_HUB) onPaste(repository ?? '');
        else onChoose(id);
    };
    const onKeyDown = (event: KeyboardEvent) => {
        if (event.key === 'Escape' || event.key === 'Tab') return close();
        if (!open && (event.key === 'ArrowDown' || event.key === 'Enter')) {
            event.preventDefault();
            return show();
        }
        const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        if (move) setActive((active + move + ids.length) % ids.length);
        else if (event.key === 'Enter') take(ids[active]);
        else return;
        event.preventDefault();
    };
    useEffect(() => {
        list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
    }, [active, open]);

    const option = (id: string, index: number, name: string, detail: string) => (
        // biome-ignore lint/a11y/useFocusableInteractive: an option is pointed at by aria-activedescendant, never focused
        <li
            key={id}
            id={`model-${index}`}
            role="option"
            aria-selected={index === active}
            class={id === PASTE || id === FROM_HUB ? 'paste' : undefined}
            onPointerDown={(event) => event.preventDefault()}
            onPointerMove={() => index !== active && setActive(index)}
            onClick={() => take(id)}
        >
            {name} <small>{detail}</small>
        </li>
    );
    return (
        <span class="picker">
            <input
                ref={input}
                id="field-model"
                role="combobox"
                type="text"
                autocomplete="off"
                spellcheck={false}
                aria-label={say('form.model')}
                aria-expanded={open}
                aria-controls="model-list"
                aria-autocomplete="list"
                aria-activedescendant={open ? `model-${active}` : undefined}
                aria-invalid={invalid}
                aria-describedby={describedBy}
                size={Math.max(6, (query || label).length)}
                value={query || label}
                onClick={show}
                onInput={(event) => {
                    const { value } = event.currentTarget;
                    if (isFile(value)) return pasted(value);
                    setQuery(value);
                    setActive(0);
                }}
                onPaste={(event) => {
                    const text = event.clipboardData?.getData('text') ?? '';
                    if (!isFile(text)) return;
                    event.preventDefault();
                    pasted(text);
                }}
                onBlur={close}
                onKeyDown={onKeyDown}
            />
            <ul ref={list} id="model-list" role="listbox" aria-label={say('form.model')} hidden={!open}>
                {open &&
                    found.map((model, index) =>
                        option(model.id, index, model.label, say('form.parameters', { count: format.short(model.parameters) })),
                    )}
                {open && found.length === 0 && !elsewhere && <li class="none">{say('form.no_match')}</li>}
                {open && elsewhere && option(FROM_HUB, found.length, say('form.hub', { repository }), say('form.hub_help'))}
                {open && option(PASTE, ids.length - 1, say('form.paste'), say('form.paste_help'))}
            </ul>
        </span>
    );
}
