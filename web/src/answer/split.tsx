import { useState } from 'preact/hooks';
import type { Estimate } from '../core/api';
import type { Core } from '../core/client';
import { Launch } from '../formats/launch';
import { Share } from '../share/share';
import type { Actions, Page } from '../store/page';
import { clauses, say } from '../words/words';
import { LaterBest, LaterPinButton, LaterTerms, LaterWhy } from './later';
import { whoseOf } from './whose';

// "each layer over 4 GPUs and the stack of layers over 8, in 2 copies": the numbers multiply to that of the GPUs, but those of the experts,
// which lie inside the copies.
export function splitText({ job, data_parallel: count }: Estimate): string {
    const of = (...keys: ('tensor_parallel' | 'tensor_columns' | 'pipeline_parallel' | 'context_parallel')[]): number =>
        keys.reduce((product, key) => product * Number(job[key]), 1);
    const parts: string[] = [];
    const add = (id: 'layer' | 'stack' | 'sequence', over: number): void => {
        if (over > 1) parts.push(say(`plan.split.${id}`, { count: over, first: parts.length === 0 }));
    };
    add('layer', of('tensor_parallel', 'tensor_columns'));
    add('stack', of('pipeline_parallel'));
    add('sequence', of('context_parallel'));
    const experts = Number(job.expert_parallel);
    const replicas = Number(job.shard_replicas);
    const copies = job.zero !== 'weights' ? count : count % replicas ? 1 : replicas;
    let split = clauses(parts);
    if (count > copies) split = say('plan.split.sharded', { split, first: !split, count: count / copies });
    if (copies > 1)
        split = split
            ? say('plan.split.in_copies', { split, count: copies })
            : say('plan.split.copies', { count: copies, experts: experts > 1 });
    split ||= say('plan.split.whole');
    return experts > 1 ? say('plan.split.experts', { split, count: experts }) : split;
}

interface SplitProps {
    page: Page;
    answer: Estimate;
    act: Actions;
    asks: Pick<Core, 'estimate' | 'exportPlan'>;
}

// The plan in words, and what can be done with it. The field's own terms stand beside them, or with the reasons for who wants it plain.
export function Split({ page, answer, act, asks }: SplitProps) {
    const [explained, explain] = useState(false);
    const plain = page.depth === 'plain';
    const whose = whoseOf(page);
    return (
        <>
            <div class="plan">
                <p>
                    <b>{say('plan.split.title')}</b> {splitText(answer)} {!plain && <LaterTerms page={page} answer={answer} />}{' '}
                    <span class="chip">{say(`answer.chip.${whose}`)}</span>{' '}
                    {whose !== 'all' && <LaterBest page={page} answer={answer} act={act} />}
                </p>
                <span class="acts">
                    <Share page={page} />
                    <Launch page={page} answer={answer} asks={asks} />
                    {plain ? (
                        <a class="button" href="#adjust">
                            {say('plan.split.change')}
                        </a>
                    ) : (
                        <LaterPinButton page={page} answer={answer} act={act} />
                    )}
                    <button type="button" aria-expanded={explained} aria-controls="why" onClick={() => explain(!explained)}>
                        {say('answer.why')}
                    </button>
                </span>
            </div>
            <p id="why" class="why" hidden={!explained}>
                {explained && <LaterWhy page={page} answer={answer} estimate={asks.estimate} />}
            </p>
        </>
    );
}
