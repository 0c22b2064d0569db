import './filters.css';
import { useEffect, useState } from 'preact/hooks';
import type { Degree, Field, Ranked } from '../core/api';
import { format } from '../format/format';
import { choiceLabel, labelOf, messageOf } from '../shared/names';
import { NumberField } from '../shared/number-field';
import { DEGREES, type Value } from '../state/state';
import type { Actions, How, Page } from '../store/page';
import { MEMORY_FILTER, type Only, rows } from '../store/ranked';
import { listed, say } from '../words/words';
import { activeKeys, filterKeys, isDegree, withFilter } from './list';

// Filters over plans. Those of the degrees are one state of the page, which the map and the list of best configurations share.
interface Props {
    page: Page;
    act: Actions;
}

interface PickProps {
    label: string;
    name: string; // of the field in full
    value: Value | undefined;
    values: readonly Value[];
    said(value: Value): string;
    pick(value: Value | undefined): void;
}

function Pick({ label, name, value, values, said, pick }: PickProps) {
    const offered = value === undefined || values.includes(value) ? values : [...values, value];
    return (
        <label title={name} class={value === undefined ? undefined : 'active'}>
            {label}
            <select
                value={String(value ?? '')}
                aria-label={name}
                onChange={({ currentTarget }) => pick(offered.find((one) => String(one) === currentTarget.value))}
            >
                <option value="">{say('map.any')}</option>
                {offered.map((one) => (
                    <option key={String(one)} value={String(one)} selected={one === value}>
                        {said(one)}
                    </option>
                ))}
            </select>
        </label>
    );
}

const fieldOf = (page: Pick<Page, 'catalog'>, key: string): Field | undefined => page.catalog.fields.find((field) => field.key === key);

function said(page: Page, key: string, value: Value): string {
    if (typeof value === 'number') return format.count(value);
    return typeof value === 'boolean' ? (value ? say('adjust.yes') : say('adjust.no')) : choiceLabel(page.catalog, key, String(value));
}

const degreeName = (key: Degree): string =>
    say('filters.degree', { name: say(`degree.short.${key}`), letter: say(`degree.letter.${key}`) });

// "TP 8", "Pipeline schedule: 1F1B", "memory at most 60 GB"
export function filterText(page: Page, only: Only, key: keyof Only): string {
    const value = only[key] ?? '';
    if (key === MEMORY_FILTER) return say('filters.memory_of', { gb: typeof value === 'number' ? format.number(value) : String(value) });
    const text = said(page, key, value);
    if (isDegree(key)) return say('filters.by_degree', { letter: say(`degree.letter.${key}`), value: text });
    return say('filters.field', { label: labelOf(page.catalog.fields, key), value: text });
}

export const filterTexts = (page: Page, only: Only): string =>
    listed(activeKeys(page.catalog, only).map((key) => filterText(page, only, key)));

export const onlyOf = (page: Page): Only => ({ ...page.heatFilter, ...page.listFilter });

export function DegreeFilters({ page, act, choices }: Props & { choices: { readonly [key in Degree]?: readonly Value[] } }) {
    return (
        <>
            {DEGREES.map((key) => (
                <Pick
                    key={key}
                    label={degreeName(key)}
                    name={labelOf(page.catalog.fields, key)}
                    value={page.heatFilter[key]}
                    values={choices[key] ?? []}
                    said={(value) => said(page, key, value)}
                    pick={(value) => act.filter(...withFilter(page.heatFilter, page.listFilter, key, value))}
                />
            ))}
        </>
    );
}

function MemoryFilter({ page, set }: { page: Page; set(key: keyof Only, value: Value | undefined, how: How): void }) {
    const value = page.listFilter[MEMORY_FILTER] ?? '';
    const [problem] = page.ranking.problems.filter(({ field }) => field === `only.${MEMORY_FILTER}`);
    return (
        <>
            <span class={value === '' ? 'at-most' : 'at-most active'}>
                <label for="filter-memory">{say('filters.memory')}</label>
                <NumberField
                    id="filter-memory"
                    label={say('filters.memory_name')}
                    value={value}
                    kind={{ unit: 'gbyte' }}
                    placeholder={say('map.any')}
                    invalid={problem !== undefined}
                    describedBy={problem && 'filter-memory-problem'}
                    onChange={(next, how) => set(MEMORY_FILTER, next === '' ? undefined : next, how)}
                />
                <span>{say('filters.gb')}</span>
            </span>
            {problem && (
                <p id="filter-memory-problem" class="wrong">
                    {messageOf(problem)}
                </p>
            )}
        </>
    );
}

const WIDE = '(min-width: 45.01rem)'; // as in plans.css

function useWide(): boolean {
    const [wide, setWide] = useState(() => matchMedia(WIDE).matches);
    useEffect(() => {
        const query = matchMedia(WIDE);
        const changed = () => setWide(query.matches);
        query.addEventListener('change', changed);
        return () => query.removeEventListener('change', changed);
    }, []);
    return wide;
}

const ID = 'best-filters';

// A button that goes away with the filter that it clears hands the focus to the filters.
function letGo(act: Actions, ...filters: Parameters<Actions['filter']>): void {
    document.getElementById(ID)?.focus({ preventScroll: true });
    act.filter(...filters);
}

function ShowAll({ act }: { act: Actions }) {
    return (
        <button type="button" onClick={() => letGo(act, {}, {})}>
            {say('filters.all')}
        </button>
    );
}

// Right above the list: folded on a narrow screen.
export function ListFilters({ page, act, ranked }: Props & { ranked: Ranked }) {
    const wide = useWide();
    const only = onlyOf(page);
    const active = Object.keys(only).length;
    const set = (key: keyof Only, value: Value | undefined, how: How = 'choose') =>
        act.filter(...withFilter(page.heatFilter, page.listFilter, key, value), how);
    const controls = (
        <>
            <DegreeFilters page={page} act={act} choices={ranked.choices} />
            <MemoryFilter page={page} set={set} />
            {filterKeys(page.catalog, ranked, page.listFilter).map((key) => (
                <Pick
                    key={key}
                    label={labelOf(page.catalog.fields, key)}
                    name={labelOf(page.catalog.fields, key)}
                    value={page.listFilter[key]}
                    values={inCatalogOrder(page, key, ranked.choices[key] ?? [])}
                    said={(value) => said(page, key, value)}
                    pick={(value) => set(key, value)}
                />
            ))}
            {active > 0 && rows(ranked) > 0 && <ShowAll act={act} />}
        </>
    );
    return (
        <>
            {wide ? (
                <fieldset id={ID} class="filters list-filters" tabIndex={-1}>
                    <legend>{say('filters.title')}</legend>
                    {controls}
                </fieldset>
            ) : (
                <details id={ID} class="list-filters" tabIndex={-1}>
                    <summary>
                        {say('filters.title')} {active > 0 && <small>{say('filters.active', { count: active })}</small>}
                    </summary>
                    <div class="filters">{controls}</div>
                </details>
            )}
            {active > 0 && <p class="on-paper">{say('filters.printed', { filters: filterTexts(page, only) })}</p>}
        </>
    );
}

// Choices as the catalogue lists them; numbers and yes before no as they come.
function inCatalogOrder(page: Page, key: string, values: readonly Value[]): readonly Value[] {
    const field = fieldOf(page, key);
    if (field?.type !== 'choice') return values;
    return field.choices.map(({ id }) => id).filter((id) => values.includes(id));
}

// An empty list: which filter is to blame, and the way out.
export function NothingLeft({ page, act, ranked }: Props & { ranked: Ranked }) {
    const { only } = page.ranking;
    const keys = activeKeys(page.catalog, only).filter((key) => ranked.excluding.includes(key));
    const one = keys.length === 1 && keys[0];
    const alone = Object.keys(only).length === 1;
    return (
        <div class="nothing" role="status">
            <p>
                {one
                    ? say('filters.blame', { filter: filterText(page, only, one) })
                    : keys.length > 1
                      ? say('filters.blame_any')
                      : alone
                        ? say('filters.not_to_blame')
                        : say('filters.blame_together')}
            </p>
            <p class="acts">
                {keys.map((key) => (
                    <button
                        key={key}
                        type="button"
                        onClick={() => letGo(act, ...withFilter(page.heatFilter, page.listFilter, key, undefined))}
                    >
                        {say('filters.clear', { filter: filterText(page, only, key) })}
                    </button>
                ))}
                {(keys.length === 0 || Object.keys(only).length > 1) && <ShowAll act={act} />}
            </p>
        </div>
    );
}
