// The page from top to bottom. It is drawn twice: at build time into index.html, and in the browser over that same markup.
import type { Imported } from './api';
import type { Core } from './core';
import { t } from './i18n';
import type { Placing } from './placement';
import type { Actions, Page } from './store';
import { Adjust } from './views/adjust';
import { Answer } from './views/answer';
import { Bar, Patterns } from './views/bar';
import { Header } from './views/header';
import { How } from './views/how';
import { Items, Notes } from './views/items';
import { LaterCalibrate, LaterParts, LaterPaste, LaterPlans, LaterStages } from './views/later';
import { Notices } from './views/notices';
import { Sentence } from './views/sentence';
import { TimeBar } from './views/time-bar';

interface Props {
    page: Page;
    act: Actions;
    importConfig(text: string): Promise<Imported>;
    timeline: Core['timeline'];
    calibrate: Core['calibrate'];
    placing: Placing;
}

export function App({ page, act, importConfig, timeline, calibrate, placing }: Props) {
    const { answer } = page;
    const stale = page.problems.length > 0;
    return (
        <>
            <Patterns />
            <Header />
            <main id="check">
                <Notices notices={page.notices} act={act} />
                <Sentence page={page} act={act} />
                <Answer page={page} act={act} />
                <div class={stale ? 'result stale' : 'result'}>
                    {stale && answer && <p class="stale-mark">{t.answer.stale}</p>}
                    {answer && <Bar page={page} answer={answer} act={act} />}
                    {answer && <TimeBar page={page} answer={answer} act={act} />}
                    {answer && <LaterCalibrate page={page} act={act} calibrate={calibrate} />}
                    <div class={answer ? 'cols' : 'cols alone'}>
                        {answer && (
                            <div>
                                <LaterStages answer={answer} act={act} />
                                <Items page={page} answer={answer} act={act} />
                                <LaterParts answer={answer} act={act} timeline={timeline} />
                                <Notes answer={answer} />
                            </div>
                        )}
                        <Adjust page={page} answer={answer} act={act} />
                    </div>
                </div>
                <LaterPlans page={page} act={act} placing={placing} />
                <How page={page} />
            </main>
            <footer>
                <p>
                    {t.footer.privacy} {t.footer.formulas}{' '}
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
