// How much the page shows: the first screen alone, or every detail below it.
import { DEPTH_PARAMETER, ROOM_PARAMETERS } from './view';

export const DEPTHS = ['plain', 'detail'] as const;
export type Depth = (typeof DEPTHS)[number];

const KEY = 'fourfold-depth';

const known = (text: string | null): Depth | undefined => DEPTHS.find((depth) => depth === text);

// A link decides, then the section that it names or fills, then what this reader chose last.
export function openingDepth({ search, hash }: { search: string; hash: string }): Depth {
    const said = new URLSearchParams(search);
    const linked = known(said.get(DEPTH_PARAMETER));
    if (linked) return linked;
    if (ROOM_PARAMETERS.some((name) => said.has(name))) return 'detail';
    if (hash.length > 1 && hash !== '#check' && hash !== '#answer') return 'detail';
    try {
        return known(localStorage.getItem(KEY)) ?? 'plain';
    } catch {
        return 'plain'; // storage may be forbidden, in an embedded page for one
    }
}

export function rememberDepth(depth: Depth): void {
    try {
        localStorage.setItem(KEY, depth);
    } catch {
        // Then it holds until the page is closed.
    }
}
