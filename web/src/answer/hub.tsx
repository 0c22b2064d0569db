import { useEffect, useRef, useState } from 'preact/hooks';
import { Words } from '../shared/words';
import { say } from '../words/words';
import { HUB_ALLOWED } from './hub-allowed';
import { type Fetched, fetchConfig } from './hub-fetch';
import { configPage } from './hub-id';

export interface BuiltIn {
    label: string;
    use(): void;
}

interface Props {
    repository: string;
    builtIn: BuiltIn | null; // the catalogue has it: nothing need be asked
    take(config: string): void;
    allowed?: boolean;
}

type Refused = Extract<Fetched, { ok: false }>;

const whyText = ({ why, status }: Refused, repository: string): string =>
    why === 'status' ? say('hub.status', { repository, status: String(status) }) : say(`hub.failed.${why}`, { repository });

// The way without the page's help.
const ByHand = ({ repository }: { repository: string }) => (
    <p>
        <Words
            id="hub.by_hand"
            slots={{}}
            tags={{
                link: (inside) => (
                    <a href={configPage(repository)} target="_blank" rel="noreferrer">
                        {inside}
                    </a>
                ),
            }}
        />
    </p>
);

// Asks when the reader says so; stopped with the view.
function useHub(repository: string, take: Props['take']) {
    const [asking, ask] = useState(false);
    const [failed, fail] = useState<Refused | null>(null);
    const stop = useRef<AbortController | null>(null);
    useEffect(() => () => stop.current?.abort(), []);
    const start = async () => {
        const own = new AbortController();
        stop.current = own;
        fail(null);
        ask(true);
        const answer = await fetchConfig(repository, own.signal);
        if (stop.current !== own || !answer) return;
        stop.current = null;
        ask(false);
        if (answer.ok) take(answer.text);
        else fail(answer);
    };
    const end = (): void => {
        stop.current?.abort();
        stop.current = null;
        ask(false);
    };
    return { asking, failed, start, end };
}

// "owner/name" where a model is asked for: what a click would send, and what came of it.
export function FromHub({ repository, builtIn, take, allowed = HUB_ALLOWED }: Props) {
    const { asking, failed, start, end } = useHub(repository, take);
    if (builtIn) {
        return (
            <div class="hub">
                <h3>{say('hub.built_in', { repository, label: builtIn.label })}</h3>
                <p class="acts">
                    <button type="button" onClick={builtIn.use}>
                        {say('hub.use', { label: builtIn.label })}
                    </button>
                </p>
            </div>
        );
    }
    return (
        <div class="hub">
            {!failed && <h3>{say('hub.title', { repository })}</h3>}
            {failed ? (
                <p class="wrong">{whyText(failed, repository)}</p>
            ) : (
                <p>{say(asking ? 'hub.asking' : allowed ? 'hub.sends' : 'hub.not_allowed', { repository })}</p>
            )}
            {allowed && (
                <p class="acts">
                    <button type="button" onClick={asking ? end : start}>
                        {asking ? say('hub.stop') : failed ? say('hub.again') : say('hub.ask', { repository })}
                    </button>
                </p>
            )}
            {(failed || !allowed) && <ByHand repository={repository} />}
        </div>
    );
}
