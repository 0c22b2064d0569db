import type { ComponentChildren } from 'preact';
import type { Estimate } from '../core/api';
import { Folded } from '../shared/folded';
import type { Depth } from '../state/depth';
import { say } from '../words/words';
import { LaterGrounds } from './later';

interface Props {
    answer: Estimate;
    depth: Depth;
    children?: ComponentChildren;
}

// What the answer rests on: which meter shows which number, how a step's time spreads, and where the measured runs stand.
export const Sure = ({ children, ...what }: Props) => (
    <Folded title={say('sure.title')} late>
        <LaterGrounds {...what}>{children}</LaterGrounds>
    </Folded>
);
