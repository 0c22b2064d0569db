import { useEffect, useState } from 'preact/hooks';
import type { Core } from '../core/client';
import { withConfig } from '../state/state';
import { namesRun } from '../state/view';
import type { Actions, Page } from '../store/page';
import { fetchWords, say } from '../words/words';

// The doors to the parts that come in a file of their own (more.tsx). It is on its way as soon as somebody asks for one of them.
type More = typeof import('./more');
let fetched: More | undefined;

export async function fetchMore(): Promise<void> {
    const [more] = await Promise.all([import('./more'), fetchWords('more', 'wrong')]);
    fetched = more;
}

function useMore(wanted: boolean): { more: More | undefined; failed: boolean } {
    const [failed, fail] = useState(false);
    const [, redraw] = useState(fetched);
    useEffect(() => {
        if (!wanted) return;
        fetchMore().then(
            () => redraw(fetched),
            () => fail(true),
        );
    }, [wanted]);
    return { more: fetched, failed };
}

const Wait = ({ failed }: { failed: boolean }) => <p class="note">{failed ? say('notice.missing') : say('later.coming')}</p>;

export function LaterCard(props: Parameters<More['Card']>[0]) {
    const { more, failed } = useMore(true);
    return more ? <more.Card {...props} /> : <Wait failed={failed} />;
}

// Everything below the first screen.
export function LaterDetail(props: Parameters<More['Detail']>[0]) {
    const { more, failed } = useMore(true);
    return more ? <more.Detail {...props} /> : <Wait failed={failed} />;
}

// The numbers of the reader's own GPU.
export function LaterOwnGpu(props: Parameters<More['OwnGpu']>[0]) {
    const { more, failed } = useMore(true);
    return more ? <more.OwnGpu {...props} /> : <Wait failed={failed} />;
}

interface PasteProps {
    page: Page;
    act: Actions;
    asks: Pick<Core, 'importConfig' | 'estimate' | 'alternatives' | 'rank' | 'exportPlan'>;
}

export function LaterPaste({ page, act, asks }: PasteProps) {
    const { more, failed } = useMore(page.pasting !== null);
    useEffect(() => {
        if (failed) act.notify('missing');
    }, [failed]);
    if (!page.pasting || !more) return null;
    const { answer, alternatives } = page;
    const counted =
        answer && namesRun() && page.problems.length === 0 ? more.countedOf(answer, page.alternativesStale ? null : alternatives) : null;
    return (
        <more.PasteDialog
            start={page.pasting.text}
            importing={{
                importConfig: asks.importConfig,
                importPlan: more.importPlan,
                findModels: more.findModels,
                readRun: (text) => more.readRun({ text, counted }),
            }}
            compare={(plan, text, run) => more.comparedWith(plan, text, run, page, asks)}
            faster={(plan, script, times) => (
                <more.Faster
                    page={page}
                    plan={plan}
                    script={script}
                    {...(times && { times })}
                    asks={{ ...asks, importPlan: more.importPlan }}
                />
            )}
            page={page}
            against={counted && page}
            measure={act.measure}
            useCards={(cards) => {
                act.paste(null);
                act.change(cards, 'choose');
            }}
            useKnown={(model) => {
                act.paste(null);
                if (typeof model === 'string') act.change({ model }, 'choose');
                else act.replaceJob(withConfig(page.job, model), 'choose');
            }}
            run={(plan) => {
                act.paste(null);
                act.replaceJob(more.jobOfScript(page.job, page.catalog, plan), 'choose');
            }}
            close={() => act.paste(null)}
            use={(imported) => {
                act.paste(null);
                act.replaceJob(withConfig(page.job, imported.model), 'choose');
            }}
        />
    );
}
