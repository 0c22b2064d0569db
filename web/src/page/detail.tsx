import { Adjust } from '../adjust/adjust';
import { Brief } from '../answer/brief';
import { Items, Notes } from '../answer/items';
import { TimeBar } from '../answer/time-bar';
import type { Core } from '../core/client';
import { How } from '../evidence/how';
import type { Prover } from '../evidence/prove';
import type { Asker } from '../gpus/market';
import type { Phaser } from '../phases/ask';
import type { Placing } from '../placement/search';
import { timeOf } from '../shared/answer-words';
import type { Actions, Page } from '../store/page';
import { LaterCalibrate, LaterCard, LaterLayout, LaterParts, LaterPlans, LaterStages, LaterTime } from './later';

interface Props {
    page: Page;
    act: Actions;
    timeline: Core['timeline'];
    calibrate: Core['calibrate'];
    placing: Placing;
    prover: Prover;
    market: Asker;
    phaser: Phaser;
}

// Everything below the first screen, for who wants every detail.
export function Detail({ page, act, timeline, calibrate, placing, prover, market, phaser }: Props) {
    const { answer } = page;
    const stale = page.problems.length > 0;
    return (
        <>
            <Brief page={page} />
            <div class={stale ? 'result stale' : 'result'}>
                {answer && !stale && <p class="takes">{timeOf(answer)}</p>}
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
            <LaterPlans page={page} act={act} placing={placing} prover={prover} market={market} phaser={phaser} />
            <How page={page} />
        </>
    );
}
