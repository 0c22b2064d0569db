// What a measurement says to every estimate: the rates of collectives, as settings of the run.
import type { CollectiveRun, CollectivesRead } from '../core/api';
import type { Measured } from '../core/types';
import type { Actions, Page } from '../store/page';
import { say, sentences, tell } from '../words/words';

const GB = 1e9; // bytes
const MICRO = 1e-6; // s
const KEYS = ['measured_intra_gb_s', 'measured_inter_gb_s', 'measured_inter_latency_s'] as const;

const runText = ({ nodes, gpus, gbyte_per_s, bus_gbyte_per_s, latency_us }: CollectiveRun): string => {
    const told = { gpus, rate: gbyte_per_s * GB, latency: latency_us * MICRO };
    return nodes === 1
        ? say('placement.rates.inside', told)
        : say('placement.rates.between', { ...told, nodes, bus: bus_gbyte_per_s * GB });
};

interface Props {
    read: Measured | CollectivesRead;
    page: Page;
    act: Actions;
}

export function Rates({ read, page, act }: Props) {
    const { set } = read;
    const runs = 'collectives' in read ? read.collectives : [];
    const keys = KEYS.filter((key) => set[key] !== undefined);
    if (keys.length === 0) return null;
    const used = keys.every((key) => page.job[key] === set[key]);
    const numbers = [
        typeof set.measured_intra_gb_s === 'number' && say('placement.rates.set_inside', { rate: set.measured_intra_gb_s * GB }),
        typeof set.measured_inter_gb_s === 'number' && say('placement.rates.set_between', { rate: set.measured_inter_gb_s * GB }),
        typeof set.measured_inter_latency_s === 'number' && say('placement.rates.set_latency', { latency: set.measured_inter_latency_s }),
    ];
    return (
        <div class="proposal rates">
            {runs.length > 0 && (
                <>
                    <ul>
                        {runs.map((run) => (
                            <li key={JSON.stringify(run)}>{runText(run)}</li>
                        ))}
                    </ul>
                    <p class="note">{sentences(...read.notes.map(tell), !('names' in read) && say('placement.rates.no_pairs'))}</p>
                </>
            )}
            <p>{say('placement.rates.offer', { rates: numbers.filter((text) => text !== false) })}</p>
            <p class="acts">
                <button
                    type="button"
                    disabled={used}
                    onClick={() => act.change(Object.fromEntries(keys.map((key) => [key, set[key] ?? 0])), 'choose')}
                >
                    {say(used ? 'placement.rates.used' : 'placement.rates.use')}
                </button>
            </p>
        </div>
    );
}
