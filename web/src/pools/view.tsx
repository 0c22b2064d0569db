import '../shared/stacked.css';
import './pools.css';
import type { Pooled, Refusal } from '../core/api';
import { problemAttributes } from '../shared/field-problems';
import { NumberField } from '../shared/number-field';
import { wrongAt } from '../shared/refused';
import { AskButton, type Asked, AskStatus, useAsked } from '../shared/use-asked';
import { useLinked } from '../shared/use-linked';
import { POOLS_PARAMETER } from '../state/view';
import type { Page } from '../store/page';
import { say } from '../words/words';
import { askedOf, type Mixer } from './ask';
import { formatPools, MOST_POOLS, type More, parsePools } from './link';
import { Outcome } from './result';

type Answer = Asked<Pooled | Refusal>;

interface RowProps {
    page: Page;
    answer: Answer;
    pool: More;
    at: number;
    set(part: Partial<More>, typed?: string): void;
    remove: (() => void) | null;
}

function PoolRow({ page, answer, pool, at, set, remove }: RowProps) {
    const { catalog } = page;
    const number = at + 1;
    const [count, card] = ['gpus', 'gpu'].map((key) => wrongAt(answer, `more_pools[${at}].${key}`));
    const known = catalog.gpus.some(({ id }) => id === pool.gpu);
    return (
        <p class="pool">
            <NumberField
                id={`pool-${number}-gpus`}
                label={say('pools.number', { pool: number })}
                value={pool.gpus}
                kind={problemAttributes(page, 'gpus').kind}
                {...count}
                invalid={typeof pool.gpus !== 'number' || count?.wrong !== undefined}
                onChange={(gpus) => set({ gpus }, String(at))}
            />
            <select
                aria-label={say('pools.card', { pool: number })}
                value={pool.gpu}
                aria-invalid={card?.wrong !== undefined}
                aria-describedby={card?.describedBy}
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

export function PoolsView({ page, mixer }: { page: Page; mixer: Mixer }) {
    const read = (text: string | null): More[] => {
        const said = parsePools(text);
        return said.length > 0 ? said : [another(page)];
    };
    const [pools, change] = useLinked<More[]>(POOLS_PARAMETER, read, formatPools);
    const [answer, ask, stop] = useAsked(
        () => mixer.pools(askedOf(page.job, pools)),
        () => mixer.stop(),
        [page.job, pools],
    );
    return (
        <>
            <p>{say('pools.beside')}</p>
            {pools.map((pool, at) => (
                <PoolRow
                    key={at}
                    page={page}
                    answer={answer}
                    pool={pool}
                    at={at}
                    set={(part, typed) =>
                        change(
                            pools.map((one, i) => (i === at ? { ...one, ...part } : one)),
                            typed,
                        )
                    }
                    remove={pools.length > 1 ? () => change(pools.filter((_, i) => i !== at)) : null}
                />
            ))}
            <p class="acts">
                <button type="button" disabled={pools.length >= MOST_POOLS} onClick={() => change([...pools, another(page)])}>
                    {say('pools.add')}
                </button>
                <AskButton answer={answer} ask={ask} stop={stop} label={say('pools.ask')} />
            </p>
            <AskStatus answer={answer} working={say('pools.working')}>
                {answer !== null && typeof answer === 'object' && <Outcome answer={answer} catalog={page.catalog} />}
            </AskStatus>
        </>
    );
}
