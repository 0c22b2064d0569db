// The report of a run comes in a file of its own, with its words, when a log is brought.
import { useEffect, useState } from 'preact/hooks';
import { fetchWords, say } from '../words/words';

export type { Compared, Compares } from './compared';
export type { Against, Cards } from './run-words';

type Report = typeof import('./run-report');
let fetched: Report | undefined;

const fetchReport = () => import('./run-report');

export const comparedWith: Report['comparedWith'] = async (...given) => (await fetchReport()).comparedWith(...given);

export function RunFound(props: Parameters<Report['RunReport']>[0]) {
    const [report, draw] = useState(fetched);
    const [failed, fail] = useState(false);
    useEffect(() => {
        if (report) return;
        Promise.all([fetchReport(), fetchWords('run')]).then(
            ([module]) => {
                fetched = module;
                draw(module);
            },
            () => fail(true),
        );
    }, [report]);
    if (report) return <report.RunReport {...props} />;
    return <p class="note">{failed ? say('notice.missing') : say('later.coming')}</p>;
}
