import { useEffect, useState } from 'preact/hooks';
import { say } from '../words/words';

// Most plans that fit have one stage: what draws a pipeline comes in a file of its own.
type Drawn = typeof import('./view');
let fetched: Drawn | undefined;

export function PipelineTimeline(props: Parameters<Drawn['PipelineTimeline']>[0]) {
    const [failed, fail] = useState(false);
    const [, redraw] = useState(fetched);
    useEffect(() => {
        import('./view').then(
            (all) => {
                fetched = all;
                redraw(all);
            },
            () => fail(true),
        );
    }, []);
    if (!fetched) return <p class="note">{failed ? say('notice.missing') : say('later.coming')}</p>;
    return <fetched.PipelineTimeline {...props} />;
}
