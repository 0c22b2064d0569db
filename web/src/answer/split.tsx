import { useEffect, useRef, useState } from 'preact/hooks';
import type { Estimate, Field } from '../core/api';
import type { Core } from '../core/client';
import { RANKED_KEYS, type RankedKey } from '../core/types';
import { format } from '../format/format';
import { Launch } from '../formats/launch';
import { Share } from '../share/share';
import { leftOutText, wholePlan } from '../shared/plan-words';
import { MAX_PINS, pinOf } from '../state/state';
import { type Actions, type Page, pinLike } from '../store/page';
import { say } from '../words/words';

// Whose plan it is: all of it chosen, all of it the reader's, or some of each.
export type Whose = 'all' | 'mixed' | 'yours';
export function whoseOf({ job, answer, catalog }: Page): Whose {
    // Without experts there is nothing to choose; what is not chosen unless one asks for it is nobody's.
    const idle = (key: RankedKey): boolean => key.startsWith('expert_') && job[key] === 'auto' && answer?.job[key] === 1;
    const counts = (field: Field): boolean => field.auto === true && (field.default === 'auto' || job[field.key] !== field.default);
    const fields = RANKED_KEYS.filter((key) => !idle(key) && catalog.fields.some((field) => field.key === key && counts(field)));
    const chosen = fields.filter((key) => job[key] === 'auto').length;
    return chosen === fields.length ? 'all' : chosen === 0 ? 'yours' : 'mixed';
}

// "each layer over 4 GPUs and the stack of layers over 8, in 2 copies"
export function splitText({ job, data_parallel: count }: Estimate): string {
    const of = (...keys: ('tensor_parallel' | 'tensor_columns' | 'pipeline_parallel' | 'context_parallel' | 'expert_parallel')[]): number =>
        keys.reduce((product, key) => product * Number(job[key]), 1);
    const parts: string[] = [];
    const add = (id: 'layer' | 'stack' | 'sequence' | 'experts', over: number): void => {
        if (over > 1) parts.push(say(`plan.split.${id}`, { count: over, first: parts.length === 0 }));
    };
    add('layer', of('tensor_parallel', 'tensor_columns'));
    add('stack', of('pipeline_parallel'));
    add('sequence', of('context_parallel'));
    add('experts', of('expert_parallel'));
    if (parts.length === 0) return count > 1 ? say('plan.split.copies', { count }) : say('plan.split.whole');
    const split = format.enumerate(parts);
    return count > 1 ? say('plan.split.in_copies', { split, count }) : split;
}

// Puts the plan shown aside, or takes it back out; a link leads to where pinned plans stand side by side.
function PinButton({ page, answer, act }: { page: Page; answer: Estimate; act: Actions }) {
    const { pins, catalog } = page;
    const here = pinOf(answer.job, catalog);
    const pinned = pinLike(page, here);
    const full = !pinned && pins.length >= MAX_PINS;
    return (
        <>
            {!full && (
                <button type="button" onClick={() => (pinned ? act.unpin(pinned) : act.pin(answer.job))}>
                    {pinned ? say('pins.unpin') : say('pins.pin')}
                </button>
            )}
            {pins.length > 0 && (
                <a href="#compare">{full ? say('pins.full', { count: pins.length }) : say('pins.compare', { count: pins.length })}</a>
            )}
        </>
    );
}

// The plan in the field's own terms.
const Terms = ({ page, answer }: { page: Page; answer: Estimate }) => (
    <span class="terms">{wholePlan(page.catalog, answer.job, answer.data_parallel)}</span>
);

// Why this plan and no other. What is chosen comes from the search that the list and the map show too.
function Why({ page, answer }: { page: Page; answer: Estimate }) {
    const { count } = answer.equally_good;
    const whose = whoseOf(page);
    const fits = answer.class !== 'does_not_fit';
    const tie = count > 1 ? say('answer.why_tie', { count }) : whose === 'all' && say('answer.why_alone');
    return (
        <>
            {say(`answer.why_${whose}`)} {whose !== 'yours' && (fits ? tie : say('answer.why_nothing'))}{' '}
            {whose !== 'yours' && <a href="#best">{leftOutText(page)}</a>}
        </>
    );
}

interface SplitProps {
    page: Page;
    answer: Estimate;
    act: Actions;
    exportPlan: Core['exportPlan'];
}

// The plan in words, and what can be done with it. The field's own terms stand beside them, or with the reasons for who wants it plain.
export function Split({ page, answer, act, exportPlan }: SplitProps) {
    const [explained, explain] = useState(false);
    const why = useRef<HTMLParagraphElement>(null);
    // On a phone it opens below the screen.
    useEffect(() => {
        if (explained) why.current?.scrollIntoView({ block: 'nearest' });
    }, [explained]);
    const plain = page.depth === 'plain';
    return (
        <>
            <div class="plan">
                <p>
                    <b>{say('plan.split.title')}</b> {splitText(answer)} {!plain && <Terms page={page} answer={answer} />}{' '}
                    <span class="chip">{say(`answer.chip.${whoseOf(page)}`)}</span>
                </p>
                <span class="acts">
                    <Share page={page} />
                    <Launch page={page} answer={answer} exportPlan={exportPlan} />
                    {plain ? (
                        <a class="button" href="#adjust">
                            {say('plan.split.change')}
                        </a>
                    ) : (
                        <PinButton page={page} answer={answer} act={act} />
                    )}
                    <button type="button" aria-expanded={explained} aria-controls="why" onClick={() => explain(!explained)}>
                        {say('answer.why')}
                    </button>
                </span>
            </div>
            <p ref={why} id="why" class="why" hidden={!explained}>
                {explained && plain && <Terms page={page} answer={answer} />} {explained && <Why page={page} answer={answer} />}
            </p>
        </>
    );
}
