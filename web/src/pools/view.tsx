import './pools.css';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Catalog, Pooled, Refusal } from '../core/api';
import { NumberField } from '../shared/number-field';
import { POOLS_PARAMETER, withView } from '../state/view';
import type { Page } from '../store/page';
import { say } from '../words/words';
import { askedOf, type Mixer } from './ask';
import { formatPools, MOST_POOLS, type More, parsePools } from './link';
import { Outcome } from './result';

interface RowProps {
    catalog: Catalog;
    pool: More;
    at: number;
    set(part: Partial<More>): void;
    remove: (() => void) | null;
}

function PoolRow({ catalog, pool, at, set, remove }: RowProps) {
    const number = at + 1;
    const known = catalog.gpus.some(({ id }) => id === pool.gpu);
    return (
        <p class="pool">
            <NumberField
                id={`pool-${number}-gpus`}
                label={say('pools.number', { pool: number })}
                value={pool.gpus}
                amount
                invalid={typeof pool.gpus !== 'number'}
                onChange={(gpus) => set({ gpus })}
            />
            <select
                aria-label={say('pools.card', { pool: number })}
                value={pool.gpu}
                onChange={(event) => set({ gpu: event.currentTarget.value })}
            >
                {!known && <option value={pool.gpu}>{pool.gpu}</option>}
                {catalog.gpus.map(({ id, label }) => (
                    <option key={id} value={id}>
                        {label}
                    </option>
                ))}
            </select>
            {remove && (
                <button type="button" aria-label={say('pools.remove', { pool: number })} onClick={remove}>
                    ×
                </button>
            )}
        </p>
    );
}

// A card of another kind than the run's own, and as many.
function another({ catalog, job }: Page): More {
    const gpu = catalog.gpus.find(({ id }) => id !== job.gpu)?.id ?? '';
    return { gpu, gpus: job.gpus ?? '' };
}

type Answer = Pooled | Refusal | 'working' | 'failed' | null;

export function PoolsView({ page, mixer }: { page: Page; mixer: Mixer }) {
    const [pools, set] = useState<More[]>(() => {
        const said = parsePools(new URLSearchParams(location.search).get(POOLS_PARAMETER));
        return said.length > 0 ? said : [another(page)];
    });
    const [answer, tell] = useState<Answer>(null);
    const asked = useRef(0);
    useEffect(() => tell(null), [page.job]);
    useEffect(() => () => mixer.stop(), []);
    const change = (next: More[]): void => {
        asked.current += 1;
        set(next);
        tell(null);
        history.replaceState(history.state, '', withView(location.search, POOLS_PARAMETER, formatPools(next)) + location.hash);
    };
    const ask = (): void => {
        asked.current += 1;
        const mine = asked.current;
        tell('working');
        const done = (result: Answer): void => {
            if (mine === asked.current) tell(result);
        };
        mixer.pools(askedOf(page.job, pools)).then(done, () => done('failed'));
    };
    const stop = (): void => {
        asked.current += 1;
        mixer.stop();
        tell(null);
    };
    return (
        <>
            <p>{say('pools.beside')}</p>
            {pools.map((pool, at) => (
                <PoolRow
                    key={at}
                    catalog={page.catalog}
                    pool={pool}
                    at={at}
                    set={(part) => change(pools.map((one, i) => (i === at ? { ...one, ...part } : one)))}
                    remove={pools.length > 1 ? () => change(pools.filter((_, i) => i !== at)) : null}
                />
            ))}
            <p class="acts">
                <button type="button" disabled={pools.length >= MOST_POOLS} onClick={() => change([...pools, another(page)])}>
                    {say('pools.add')}
                </button>
                {answer === 'working' ? (
                    <button type="button" onClick={stop}>
                        {say('phases.stop')}
                    </button>
                ) : (
                    <button type="button" class="prime" onClick={ask}>
                        {say('pools.ask')}
                    </button>
                )}
            </p>
            <div role="status">
                {answer === 'working' && <p class="note">{say('pools.working')}</p>}
                {answer === 'failed' && <p class="note">{say('phases.failed')}</p>}
                {answer !== null && typeof answer === 'object' && <Outcome answer={answer} catalog={page.catalog} />}
            </div>
        </>
    );
}
