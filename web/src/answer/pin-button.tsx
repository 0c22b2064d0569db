import type { Estimate } from '../core/api';
import { MAX_PINS, pinOf } from '../state/state';
import { type Actions, type Page, pinLike } from '../store/page';
import { say } from '../words/words';

interface Props {
    page: Page;
    answer: Estimate;
    act: Actions;
}

// Puts the plan shown aside, or takes it back out; a link leads to where pinned plans stand side by side.
export function PinButton({ page, answer, act }: Props) {
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
