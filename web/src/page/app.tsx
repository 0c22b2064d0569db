// The page from top to bottom. It is drawn twice: at build time into index.html, and in the browser over that same markup.
import { Adjust } from '../adjust/adjust';
import { Answer } from '../answer/answer';
import { Bar } from '../answer/bar';
import { Items, Notes } from '../answer/items';
import { Sentence } from '../answer/sentence';
import { TimeBar } from '../answer/time-bar';
import type { Imported } from '../core/api';
import type { Core } from '../core/client';
import { How } from '../evidence/how';
import type { Prover } from '../evidence/prove';
import type { Placing } from '../placement/search';
import { Patterns } from '../shared/chart';
import type { Actions, Page } from '../store/page';
import { say } from '../words/words';
import { Header } from './header';
import {
    LaterBudget,
    LaterCalibrate,
    LaterCard,
    LaterLayout,
    LaterNear,
    LaterParts,
    LaterPaste,
    LaterPlans,
    LaterStages,
    LaterTime,
} from './later';
import { Notices } from './notices';

interface Props {
    page: Page;
    act: Actions;
    importConfig(text: string): Promise<Imported>;
    timeline: Core['timeline'];
    calibrate: Core['calibrate'];
    placing: Placing;
    prover: Prover;
}

export function App({ page, act, importConfig, timeline, calibrate, placing, prover }: Props) {
    const { answer } = page;
    const stale = page.problems.length > 0;
    return (
        <>
            <Patterns />
            <Header language={page.language} act={act} />
            <main id="check">
                <Notices notices={page.notices} act={act} />
                <Sentence page={page} act={act} />
                <Answer page={page} act={act} Budget={LaterBudget}>
                    <LaterNear page={page} />
                </Answer>
                <div class={stale ? 'result stale' : 'result'}>
                    {stale && answer && <p class="stale-mark">{say('answer.stale')}</p>}
                    {answer && <Bar page={page} answer={answer} act={act} />}
                    {answer && <TimeBar page={page} answer={answer} act={act} Table={LaterTime} />}
                    {answer && <LaterCalibrate page={page} act={act} calibrate={calibrate} />}
                    <div class={answer ? 'cols' : 'cols alone'}>
                        {answer && (
                            <div>
                                <LaterStages answer={answer} act={act} />
                                <Items page={page} answer={answer} act={act} Card={LaterCard} />
                                <LaterParts answer={answer} act={act} timeline={timeline} />
                                <Notes answer={answer} />
                            </div>
                        )}
                        <Adjust page={page} answer={answer} act={act} Layout={LaterLayout} />
                    </div>
                </div>
                <LaterPlans page={page} act={act} placing={placing} prover={prover} />
                <How page={page} />
            </main>
            <footer>
                <p>
                    {say('page.privacy')} {say('page.formulas')}{' '}
                    {page.catalog.methods.map((method, i) => (
                        <span key={method.id}>
                            {i > 0 && '; '}
                            <a href={method.source.url}>{method.source.title}</a>
                        </span>
                    ))}
                </p>
            </footer>
            <LaterPaste page={page} act={act} importConfig={importConfig} />
        </>
    );
}
