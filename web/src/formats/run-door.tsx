// The report of a run comes in a file of its own, with its words, when a log is brought.
import { useEffect, useState } from 'preact/hooks';
import { fetchWords, say } from '../words/words';

export type { Compared, Compares } from './compared';
export type { Against } from './run-report';
export type { Cards } from './run-words';

type Report = typeof import('./run-report');
let fetched: Report | undefined;

export const comparedWith: typeof import('./compared').comparedWith = async (...given) =>
    (await import('./compared')).comparedWith(...given);

export function RunFound(props: Parameters<Report['RunReport']>[0]) {
    const [report, draw] = useState(fetched);
    const [failed, fail] = useState(false);
    useEffect(() => {
        if (report) return;
        Promise.all([import('./run-report'), fetchWords('run')]).then(
            ([module]) => {
                fetched = module;
                draw(module);
            },
            () => fail(true),
        );
    }, [report]);
    if (report) return <report.RunReport {...props} />;
    return <p class="note">{failed ? say('later.failed') : say('later.coming')}</p>;
}
