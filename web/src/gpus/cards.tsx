import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Catalog } from '../core/api';
import { format } from '../format/format';
import { gpuLabel, sizes } from '../shared/answer-words';
import { problemText } from '../shared/names';
import { NumberField } from '../shared/number-field';
import { Room } from '../shared/room';
import { SortHead, type Sorting } from '../shared/sort';
import { readValue, useLinked, writeValue } from '../shared/use-linked';
import { Words } from '../shared/words';
import { formatLink, type Job, type Value } from '../state/state';
import { asSeen, CARDS_PARAMETER } from '../state/view';
import type { Page } from '../store/page';
import { say, sentences } from '../words/words';
import { inDays } from './in-days';
import {
    type Asker,
    cardsOf,
    cheapestWithin,
    type Fitting,
    fastestFor,
    fittingOf,
    frontOf,
    type Progress,
    type Worked,
    workOut,
} from './market';

const START_DAYS = 60;
const START_MONEY = 5e6; // US dollars
const PAUSE_MS = 600; // after a key, before the whole catalogue is asked

const timeOf = ({ run }: Fitting): string => format.training(run.days, run.days, run.days)[0];
const costOf = ({ gpu, run }: Fitting, catalog: Catalog): string => {
    if (run.cost === null) return say('cards.no_price');
    const cost = format.dollars(run.cost);
    return catalog.gpus.find(({ id }) => id === gpu)?.price_assumed ? say('cards.assumed_cost', { cost }) : cost;
};

function Row({ one, catalog, front }: { one: Worked; catalog: Catalog; front: Set<Fitting> }) {
    const [fits] = fittingOf([one]);
    const best = fits && [...front].some(({ gpu, gpus }) => gpu === one.gpu && gpus === one.gpus);
    const why = (): ComponentChildren =>
        one.answer.ok
            ? say('cards.too_large', { ...sizes(one.answer), fit: one.answer.class })
            : sentences(...one.answer.problems.slice(0, 1).map(problemText));
    return (
        <tr class={best ? 'front' : undefined}>
            <th scope="row">
                <a href={asSeen(formatLink(one.job, catalog))}>{gpuLabel({ catalog, job: one.job })}</a>{' '}
                {best && <small class="unbeaten">{say('cards.unbeaten')}</small>}
            </th>
            {fits ? (
                <>
                    <td class="r">{timeOf(fits)}</td>
                    <td class="r">{costOf(fits, catalog)}</td>
                    <td class="r">{format.gb(fits.answer.whole_bytes)}</td>
                    <td class="extra">{best && say('cards.unbeaten')}</td>
                </>
            ) : (
                <td colSpan={4}>{why()}</td>
            )}
        </tr>
    );
}

type Column = 'catalog' | 'gpu' | 'days' | 'cost' | 'memory';
const UNSORTED: Sorting<Column> = { by: 'catalog', down: false };

// By the number in a column; what has none there comes last, whichever way it runs.
function inOrder(rows: readonly Worked[], catalog: Catalog, { by, down }: Sorting<Column>): readonly Worked[] {
    if (by === 'catalog') return rows;
    const value = (one: Worked): number | string | null => {
        if (by === 'gpu') return gpuLabel({ catalog, job: one.job });
        const [fits] = fittingOf([one]);
        if (!fits) return null;
        return { days: fits.run.days, cost: fits.run.cost, memory: fits.answer.whole_bytes }[by];
    };
    const compare = (a: ReturnType<typeof value>, b: ReturnType<typeof value>): number => {
        if (a === null || b === null) return Number(a === null) - Number(b === null);
        const order = typeof a === 'number' ? a - Number(b) : a.localeCompare(String(b), undefined, { numeric: true });
        return down ? -order : order;
    };
    return [...rows].sort((a, b) => compare(value(a), value(b)));
}

function CardTable({ rows, catalog, front }: { rows: readonly Worked[]; catalog: Catalog; front: Set<Fitting> }) {
    const [sorting, sort] = useState(UNSORTED);
    const head = (by: Exclude<Column, 'catalog'>, label: string, kind = 'r') => (
        <SortHead by={by} sorting={sorting} sort={sort} kind={kind}>
            {label}
        </SortHead>
    );
    return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reached by the keyboard
        <section class="scroll" aria-label={say('cards.region')} tabIndex={0}>
            <table aria-label={say('section.cards')}>
                <thead>
                    <tr>
                        {head('gpu', say('cards.gpu'), '')}
                        {head('days', say('cards.time'))}
                        {head('cost', say('cards.cost'))}
                        {head('memory', say('cards.memory'))}
                        <th scope="col" class="extra">
                            {say('cards.note')}
                        </th>
                    </tr>
                </thead>
                <tbody>
                    {inOrder(rows, catalog, sorting).map((one) => (
                        <Row key={one.gpu} one={one} catalog={catalog} front={front} />
                    ))}
                </tbody>
            </table>
        </section>
    );
}

function Found({ found, catalog }: { found: Fitting | undefined; catalog: Catalog }) {
    if (!found) return <b>{say('cards.none')}</b>;
    return (
        <Words
            id="cards.found"
            args={{ time: timeOf(found), cost: costOf(found, catalog) }}
            slots={{
                what: (
                    <a href={asSeen(formatLink(found.job, catalog))}>
                        {say('cards.what', { gpus: found.gpus, gpu: gpuLabel({ catalog, job: found.job }) })}
                    </a>
                ),
            }}
        />
    );
}

const KINDS = { days: 'days', money: 'per_hour' } as const; // "$5M"
const isAsked = (value: Value): value is number => typeof value === 'number' && value > 0;

type Most = 'days' | 'money';
function readMost(text: string | null): Record<Most, Value> {
    const [days = '', money = ''] = text?.split('_') ?? [START_DAYS, START_MONEY];
    return { days: readValue(String(days)), money: readValue(String(money)) };
}

// "The cheapest that is done in [60] days", "the fastest for [$5 million]".
function Finders({ fitting, catalog }: { fitting: readonly Fitting[]; catalog: Catalog }) {
    const [asked, ask] = useLinked<Record<Most, Value>>(
        CARDS_PARAMETER,
        readMost,
        ({ days, money }) => `${writeValue(days)}_${writeValue(money)}`,
    );
    const finder = (id: Most, find: (most: number) => Fitting | undefined, value = asked[id]) => ({
        [id]: (
            <NumberField
                id={`cards-${id}`}
                label={say(`cards.${id}_label`)}
                value={value}
                kind={{ unit: KINDS[id] }}
                {...(id === 'days' && { apart: inDays })}
                invalid={!isAsked(value)}
                onChange={(next) => ask({ ...asked, [id]: next }, id)}
            />
        ),
        found: isAsked(value) ? <Found found={find(value)} catalog={catalog} /> : say('cards.no_number'),
    });
    return (
        <ul class="finders">
            <li>
                <Words id="cards.cheapest" slots={finder('days', (most) => cheapestWithin(fitting, most))} />
            </li>
            <li>
                <Words id="cards.fastest" slots={finder('money', (most) => fastestFor(fitting, most))} />
            </li>
        </ul>
    );
}

// Works the whole catalogue out once the section is on the screen, and again when the run has rested after a change.
function useWorked(job: Job, catalog: Catalog, asker: Asker, seen: boolean) {
    const [{ worked, state }, tell] = useState<Progress>({ worked: [], state: 'running' });
    const stop = useRef(() => {});
    const cards = useMemo(() => cardsOf(job, catalog), [job, catalog]);
    const start = (known: readonly Worked[]) => {
        tell({ worked: known, state: 'running' });
        stop.current = workOut(asker, cards, known, tell);
    };
    useEffect(() => {
        if (!seen) return;
        tell({ worked: [], state: 'running' });
        const timer = setTimeout(() => start([]), PAUSE_MS);
        return () => {
            clearTimeout(timer);
            stop.current();
        };
    }, [cards, seen]);
    return { cards, worked, state, stop: () => stop.current(), again: () => start(worked) };
}

function useSeen() {
    const box = useRef<HTMLElement>(null);
    const [seen, see] = useState(typeof IntersectionObserver === 'undefined');
    useEffect(() => {
        if (seen || !box.current) return;
        const watch = new IntersectionObserver((entries) => entries.some(({ isIntersecting }) => isIntersecting) && see(true));
        watch.observe(box.current);
        return () => watch.disconnect();
    }, [seen]);
    return { box, seen };
}

// The same training on the other GPUs of the catalogue: days against money.
export function Cards({ page, asker }: { page: Page; asker: Asker }) {
    const { catalog, job } = page;
    const { box, seen } = useSeen();
    const { cards, worked, state, stop, again } = useWorked(job, catalog, asker, seen);
    const here = worked.filter(({ gpus }) => gpus === Number(job.gpus));
    const fitting = fittingOf(worked);
    const front = frontOf(fitting.filter(({ gpus }) => gpus === Number(job.gpus)));
    const counts = cards.map(({ gpus }) => gpus);
    const counted = { done: worked.length, all: cards.length };
    // On what is no number of GPUs there is nothing to try.
    if (cards.length === 0) {
        return (
            <Room box={box} id="cards" class="plans cards" title={say('section.cards')}>
                <p class="note">{say('map.not_yet')}</p>
            </Room>
        );
    }
    return (
        <Room box={box} id="cards" class="plans cards" title={say('section.cards')}>
            <p class="note">
                {sentences(
                    say('cards.intro', { gpus: Number(job.gpus) }),
                    Number(job.price_per_gpu_hour) > 0 && say('cards.own_price', { gpu: gpuLabel(page) }),
                )}
            </p>
            <p class="acts proving" role="status">
                {state !== 'done' && <span class="note">{say('cards.progress', { ...counted, state })}</span>}
                {state === 'running' && seen && (
                    <button type="button" onClick={stop}>
                        {say('cards.stop')}
                    </button>
                )}
                {(state === 'stopped' || state === 'failed') && (
                    <button type="button" onClick={again}>
                        {say('cards.again')}
                    </button>
                )}
            </p>
            {here.length > 0 && <CardTable rows={here} catalog={catalog} front={front} />}
            {fitting.length > 0 && (
                <>
                    <Finders fitting={fitting} catalog={catalog} />
                    <p class="note">{say('cards.tried', { from: Math.min(...counts), to: Math.max(...counts) })}</p>
                </>
            )}
        </Room>
    );
}
