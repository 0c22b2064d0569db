import { useEffect, useRef, useState } from 'preact/hooks';
import type { CatalogModel, FoundModel } from '../core/api';
import { format } from '../format/format';
import type { Job } from '../state/state';
import { say } from '../words/words';
import type { AlsoKnown } from './also-known';
import { repositoryOf, sameRepository } from './hub-id';
import { isWhole, search } from './model-search';

interface Props {
    models: CatalogModel[];
    value: string;
    label: string; // of the model in use
    describedBy?: string | undefined;
    invalid: boolean;
    onChoose(model: FoundModel['model'], sets?: Job): void; // the id of one in the list, or the config of another one
    onPaste(text?: string): void; // of a config.json or a script, which people paste where a model is asked for; or the id of a repository
    ask?: typeof askAlso;
}

const PASTE = '';
const FROM_HUB = 'hub:'; // no id of a model has a colon
// A config.json, a script, a recipe, a log: not what somebody searches for.
const LONGEST_NAME = 200;
const isFile = (text: string): boolean => {
    const whole = text.trim();
    return whole.startsWith('{') || whole.includes('\n') || whole.length > LONGEST_NAME;
};

// The list is short: another model may be meant.
const FEW = 5;
const askAlso = async (typed: string): Promise<AlsoKnown> => (await import('./also-known')).alsoKnown(typed);

interface Asked extends AlsoKnown {
    of: string; // what was typed
}
const NONE: Asked = { of: '', title: '', said: '', near: false, vague: false, models: [] };

// Models that the catalogue lacks. `coming`: what knows them is on its way, or works.
function useAlso(typed: string, wanted: boolean, ask: typeof askAlso) {
    const [also, set] = useState(NONE);
    useEffect(() => {
        if (!wanted) return;
        let stale = false;
        const take = (one?: AlsoKnown): void => void (stale || set({ ...NONE, ...one, of: typed }));
        ask(typed).then(take, () => take());
        return () => {
            stale = true;
        };
    }, [typed, wanted]);
    const coming = wanted && also.of !== typed;
    return { coming, also: wanted && !coming ? also : NONE };
}

interface Row {
    id: string;
    name: string;
    detail: string;
    leads?: boolean; // elsewhere
}
const rowOf = ({ id, label, parameters }: CatalogModel | FoundModel): Row => ({
    id,
    name: label,
    detail: say('form.parameters', { count: format.short(parameters) }),
});

// What is listed for what was typed, from top to bottom: options, and what is said between them.
// A model that has the numbers typed whole comes before those where they begin longer ones.
function rowsOf(
    found: CatalogModel[],
    whole: boolean,
    { coming, also }: ReturnType<typeof useAlso>,
    repository: string | null,
): (Row | string)[] {
    const others = also.models.filter(({ id }) => !found.some((model) => model.id === id));
    const elsewhere = repository !== null && ![...found, ...others].some((model) => sameRepository(model.repository, repository));
    const own = found.map(rowOf);
    const more = others.map(rowOf);
    if (!whole && others[0] === also.models[0]) more.push(...own.splice(0));
    const alone = also.models.length === 0 && also.title;
    const none = found.length === 0 && !coming && !elsewhere && !alone && (others.length === 0 || also.near);
    return [
        ...own,
        ...(coming ? [say('later.coming')] : none ? [say('form.no_match')] : []),
        ...(others.length > 0 || alone ? [also.title] : []),
        ...more,
        ...(elsewhere ? [{ id: FROM_HUB, name: say('form.hub', { repository }), detail: say('form.hub_help'), leads: true }] : []),
        { id: PASTE, name: say('form.paste'), detail: say('form.paste_help'), leads: true },
    ];
}

interface OptionProps extends Row {
    index: number;
    active: number;
    point(index: number): void;
    take(id: string): void;
}
const Option = ({ id, name, detail, leads, index, active, point, take }: OptionProps) => (
    // biome-ignore lint/a11y/useFocusableInteractive: an option is pointed at by aria-activedescendant, never focused
    <li
        id={`model-${index}`}
        role="option"
        aria-selected={index === active}
        class={leads ? 'paste' : undefined}
        onPointerDown={(event) => event.preventDefault()}
        onPointerMove={() => index !== active && point(index)}
        onClick={() => take(id)}
    >
        {name} <small>{detail}</small>
    </li>
);

interface RowsProps {
    rows: (Row | string)[];
    ids: string[];
    active: number;
    point(index: number): void;
    take(id: string): void;
}

function Rows({ rows, ids, active, point, take }: RowsProps) {
    return rows.map((row) =>
        typeof row === 'string' ? (
            <li key={row} class="none" role="presentation">
                {row}
            </li>
        ) : (
            <Option key={row.id} {...row} index={ids.indexOf(row.id)} active={active} point={point} take={take} />
        ),
    );
}

// A list with search (the combobox pattern of the ARIA practices): the field shows the model in use, typing narrows the list, and the
// last entry always leads to the paste dialog. So does the id of a repository that is not here; nothing is sent before a click there.
export function ModelPicker({ models, value, label, describedBy, invalid, onChoose, onPaste, ask = askAlso }: Props) {
    const [query, setQuery] = useState<string | null>(null); // null: closed
    const [pointed, setActive] = useState(0); // -1: nobody pointed
    const input = useRef<HTMLInputElement>(null);
    const list = useRef<HTMLUListElement>(null);
    const entered = useRef(false); // before the list was whole
    const kept = useRef(''); // what was typed, when the dialog took its place
    const open = query !== null;
    const typed = query ?? '';
    const repository = repositoryOf(typed);
    const words = repository ?? typed;
    const found = search(models, words);
    const whole = isWhole(found[0], words);
    const { also, coming } = useAlso(typed, found.length <= FEW && typed.trim().length > 1, ask);
    const rows = rowsOf(found, whole, { coming, also }, repository);
    const ids = rows.flatMap((row) => (typeof row === 'string' ? [] : [row.id]));
    // What may not be meant is taken by who points at it.
    const vague = also.vague && ids[0] === also.models[0]?.id;
    const active = vague ? pointed : Math.max(pointed, 0);
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
    const type = (text: string | null) => {
        entered.current = false;
        setQuery(text);
    };
    const close = () => type(null);
    const pasted = (text: string) => {
        close();
        onPaste(text);
    };
    const take = (id: string | undefined) => {
        close();
        if (id === undefined) return;
        kept.current = id === PASTE || id === FROM_HUB ? typed : '';
        if (id === PASTE) onPaste(typed || undefined);
        else if (id === FROM_HUB) onPaste(repository ?? '');
        else onChoose(also.models.find((one) => one.id === id)?.model ?? id, also.sets);
    };
    const onKeyDown = (event: KeyboardEvent) => {
        if (event.key === 'Escape' || event.key === 'Tab') return close();
        if (!open && (event.key === 'ArrowDown' || event.key === 'Enter')) {
            event.preventDefault();
            return show();
        }
        const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        if (move) setActive((Math.max(active, move < 0 ? 0 : -1) + move + ids.length) % ids.length);
        else if (event.key !== 'Enter') return;
        else if (coming && active === 0 && !whole) entered.current = true;
        else if (active >= 0) take(ids[active]);
        event.preventDefault();
    };
    useEffect(() => {
        list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
    }, [active, open]);
    useEffect(() => {
        kept.current = '';
    }, [value]);
    useEffect(() => {
        if (entered.current && !coming && !vague) take(ids[0]);
    }, [coming]);
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
                aria-activedescendant={open && active >= 0 ? `model-${active}` : undefined}
                aria-invalid={invalid}
                aria-describedby={describedBy}
                size={Math.max(6, (query || label).length)}
                value={query || label}
                onClick={show}
                onFocus={() => {
                    if (kept.current) type(kept.current);
                    kept.current = '';
                }}
                onInput={(event) => {
                    const { value } = event.currentTarget;
                    if (isFile(value)) return pasted(value);
                    type(value);
                    setActive(-1);
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
            <span class="sr" role="status">
                {open && (coming ? say('later.coming') : also.said)}
            </span>
            <ul ref={list} id="model-list" role="listbox" aria-label={say('form.model')} hidden={!open}>
                {open && <Rows {...{ rows, ids, active, take }} point={setActive} />}
            </ul>
        </span>
    );
}
