import { useEffect } from 'preact/hooks';
import { Adjust } from '../adjust/adjust';
import { Layout } from '../adjust/layout';
import { Brief } from '../answer/brief';
import { Card } from '../answer/card';
import { Items, Notes } from '../answer/items';
import { Stages } from '../answer/stages';
import { TimeBar } from '../answer/time-bar';
import { Compare } from '../compare/compare';
import type { Core } from '../core/client';
import { isWhole } from '../core/types';
import { Evidence } from '../evidence/door';
import { How } from '../evidence/how';
import type { Prover } from '../evidence/prove';
import { Cards } from '../gpus/cards';
import { Limits } from '../gpus/limits';
import type { Asker } from '../gpus/market';
import { Sweep } from '../gpus/sweep';
import type { Phaser } from '../phases/ask';
import { Phases } from '../phases/door';
import { Placement } from '../placement/door';
import type { Placing } from '../placement/search';
import { Best } from '../plans/best';
import { Plans } from '../plans/map';
import { Pools } from '../pools/door';
import { stepOf } from '../shared/answer-words';
import type { Actions, Page } from '../store/page';
import { CalibratePart, Parts, TimePart } from './parts';

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
    const unexplained = answer !== null && !isWhole(answer);
    useEffect(() => {
        if (unexplained) act.explain();
    }, [unexplained, act]);
    return (
        <>
            <Brief page={page} />
            <div class={stale ? 'result stale' : 'result'}>
                {answer && !stale && <p class="takes">{stepOf(answer)}</p>}
                {answer && <TimeBar page={page} answer={answer} act={act} Table={TimePart} />}
                {answer && <CalibratePart page={page} act={act} calibrate={calibrate} />}
                <div class={answer ? 'cols' : 'cols alone'}>
                    {answer && (
                        <div>
                            {answer.stages.length > 1 && <Stages answer={answer} act={act} />}
                            <Items page={page} answer={answer} act={act} Card={Card} />
                            <Parts answer={answer} act={act} timeline={timeline} />
                            {isWhole(answer) && <Notes answer={answer} fields={page.catalog.fields} />}
                        </div>
                    )}
                    <Adjust page={page} answer={answer} act={act} Layout={Layout} />
                </div>
            </div>
            <Best page={page} act={act} />
            <Sweep page={page} act={act} />
            <Limits page={page} act={act} />
            <Cards page={page} asker={market} />
            <Phases page={page} phaser={phaser} />
            <Pools page={page} mixer={phaser} />
            <Placement page={page} act={act} placing={placing} />
            <Plans page={page} act={act} />
            <Compare page={page} act={act} />
            <Evidence page={page} prover={prover} />
            <How page={page} />
        </>
    );
}
