import { useState } from 'preact/hooks';
import type { Estimate } from '../core/api';
import type { Core } from '../core/client';
import { format } from '../format/format';
import { Launch } from '../formats/launch';
import { Share } from '../share/share';
import { MAX_PINS, pinOf } from '../state/state';
import { type Actions, type Page, pinLike } from '../store/page';
import { say } from '../words/words';
import { LaterTerms, LaterWhy } from './later';
import { whoseOf } from './whose';

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

interface SplitProps {
    page: Page;
    answer: Estimate;
    act: Actions;
    exportPlan: Core['exportPlan'];
}

// The plan in words, and what can be done with it. The field's own terms stand beside them, or with the reasons for who wants it plain.
export function Split({ page, answer, act, exportPlan }: SplitProps) {
    const [explained, explain] = useState(false);
    const plain = page.depth === 'plain';
    return (
        <>
            <div class="plan">
                <p>
                    <b>{say('plan.split.title')}</b> {splitText(answer)} {!plain && <LaterTerms page={page} answer={answer} />}{' '}
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
            <p id="why" class="why" hidden={!explained}>
                {explained && <LaterWhy page={page} answer={answer} />}
            </p>
        </>
    );
}
