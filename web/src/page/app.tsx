// The page from top to bottom. It is drawn twice: at build time into index.html, and in the browser over that same markup.
import { Answer } from '../answer/answer';
import { Next } from '../answer/next';
import { Sentence } from '../answer/sentence';
import type { Core } from '../core/client';
import { NearRuns } from '../evidence/near-door';
import type { Prover } from '../evidence/prove';
import type { Asker } from '../gpus/market';
import type { Phaser } from '../phases/ask';
import type { Placing } from '../placement/search';
import { Patterns } from '../shared/chart';
import { CUSTOM_GPU } from '../state/state';
import type { Actions, Page } from '../store/page';
import { say } from '../words/words';
import { Header } from './header';
import { LaterCard, LaterDetail, LaterOwnGpu, LaterPaste } from './later';
import { Notices } from './notices';

interface Props {
    page: Page;
    act: Actions;
    asks: Pick<Core, 'importConfig' | 'estimate' | 'alternatives' | 'rank' | 'exportPlan'>; // for what one dialog asks
    timeline: Core['timeline'];
    calibrate: Core['calibrate'];
    placing: Placing;
    prover: Prover;
    market: Asker;
    phaser: Phaser;
}

export function App({ page, act, asks, timeline, calibrate, placing, prover, market, phaser }: Props) {
    const { answer, depth } = page;
    return (
        <>
            <Patterns />
            <Header language={page.language} depth={depth} act={act} />
            <main id="check" class={depth}>
                <Notices notices={page.notices} act={act} />
                <Sentence page={page} act={act} />
                {page.job.gpu === CUSTOM_GPU && <LaterOwnGpu page={page} act={act} />}
                <Answer page={page} act={act} asks={asks} Card={LaterCard}>
                    <NearRuns page={page} />
                </Answer>
                {depth === 'plain' ? (
                    answer && <Next page={page} answer={answer} act={act} />
                ) : (
                    <LaterDetail
                        page={page}
                        act={act}
                        timeline={timeline}
                        calibrate={calibrate}
                        placing={placing}
                        prover={prover}
                        market={market}
                        phaser={phaser}
                    />
                )}
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
            <LaterPaste page={page} act={act} asks={asks} />
        </>
    );
}
