import { useFetched } from '../shared/fetched';
import type { Page } from '../store/page';
import { say } from '../words/words';

const load = () => import('./near');

// Where the measured runs nearest to the plan shown stand: they come in a file of their own, for who asks how sure the answer is.
export function NearRuns({ page }: { page: Page }) {
    const { view, failed } = useFetched(load, 'evidence', true);
    if (view && page.answer) return <view.Near page={page} answer={page.answer} />;
    return <p class="near">{failed ? say('notice.missing') : <a href="#evidence">{say('near.title')}</a>}</p>;
}
