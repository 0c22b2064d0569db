import { useEffect, useRef } from 'preact/hooks';
import type { Estimate } from '../core/api';
import type { Core } from '../core/client';
import { useFetched } from '../shared/fetched';
import { leftOutText, wholePlan } from '../shared/plan-words';
import type { Page } from '../store/page';
import { say } from '../words/words';
import { whoseOf } from './whose';

// What published runs used comes when somebody asks why.
type Beside = typeof import('../evidence/published');
const loadBeside = (): Promise<Beside> => import('../evidence/published');

interface Props {
    page: Page;
    answer: Estimate;
}

// The plan in the field's own terms.
export const Terms = ({ page, answer }: Props) => <span class="terms">{wholePlan(page.catalog, answer.job, answer.data_parallel)}</span>;

// Why this plan and no other; in plain depth after its terms, which every detail shows beside the plan. What is chosen comes from the search
// that the list and the map show too.
export function Why(props: Props & { estimate: Core['estimate'] }) {
    const { page, answer } = props;
    const { view: beside } = useFetched(loadBeside, 'more', true);
    const here = useRef<HTMLSpanElement>(null);
    // On a phone it opens below the screen.
    useEffect(() => {
        here.current?.parentElement?.scrollIntoView({ block: 'nearest' });
    }, []);
    const { count } = answer.equally_good;
    const whose = whoseOf(page);
    const fits = answer.class !== 'does_not_fit';
    const tie = count > 1 ? say('answer.why_tie', { count }) : whose === 'all' && say('answer.why_alone');
    return (
        <span ref={here}>
            {page.depth === 'plain' && <Terms page={page} answer={answer} />} {say(`answer.why_${whose}`)}{' '}
            {whose !== 'yours' && (fits ? tie : say('answer.why_nothing'))} {whose !== 'yours' && <a href="#best">{leftOutText(page)}</a>}
            {beside && <beside.Published {...props} />}
        </span>
    );
}
