// What all drawings share: shares as widths, patterns beside colours.
import type { TimeKind } from '../core/api';

export const percent = (part: number): string => `${(part * 100).toFixed(3)}%`;

// How much text a part has room for; the style sheet knows what that means on which screen.
const ROOM = [
    [0.32, 'wide'],
    [0.17, 'half'],
    [0.12, 'middle'],
    [0.085, 'small'],
    [0.05, 'slim'],
] as const;

export const room = (width: number): string => ROOM.find(([least]) => width >= least)?.[1] ?? 'tiny';

export function Patterns() {
    return (
        <svg class="patterns" width="0" height="0" aria-hidden="true" focusable="false">
            <defs>
                <pattern id="p-gradients" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
                    <path d="M0 0v7" stroke-width="2.4" />
                </pattern>
                <pattern id="p-optimizer" width="8" height="8" patternUnits="userSpaceOnUse">
                    <circle cx="2" cy="2" r="1.2" />
                    <circle cx="6" cy="6" r="1.2" />
                </pattern>
                <pattern id="p-activations" width="6" height="6" patternUnits="userSpaceOnUse">
                    <path d="M0 3h6" stroke-width="1.6" />
                </pattern>
                <pattern id="p-temporaries" width="6" height="6" patternUnits="userSpaceOnUse">
                    <path d="M3 0v6" stroke-width="1.6" />
                </pattern>
                <pattern id="p-workspaces" width="7" height="7" patternUnits="userSpaceOnUse">
                    <path d="M0 .5h7M.5 0v7" stroke-width="1" />
                </pattern>
                <pattern id="p-outside" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(-45)">
                    <path d="M0 0v7" stroke-width="5" />
                </pattern>
                <pattern id="p-beyond" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(-45)">
                    <path d="M0 0v8" stroke-width="3" />
                </pattern>
            </defs>
        </svg>
    );
}

export function Swatch({ id }: { id: string }) {
    return (
        <svg class="swatch" width="14" height="14" aria-hidden="true">
            <rect class={`f-${id}`} width="14" height="14" rx="2" />
            <rect class="pattern" width="14" height="14" fill={`url(#p-${id})`} />
        </svg>
    );
}

// Kinds of time and kinds of memory share the colours and so the patterns; waiting is hatched and has no colour at all.
const PATTERNS: Partial<Record<TimeKind, string>> = {
    tensor: 'optimizer',
    context: 'gradients',
    pipeline: 'temporaries',
    data: 'activations',
    bubble: 'outside',
};

export function TimeFill({ kind }: { kind: TimeKind }) {
    const pattern = PATTERNS[kind];
    return (
        <>
            <rect class={`f-${kind}`} width="100%" height="100%" />
            {pattern && <rect class="pattern" width="100%" height="100%" fill={`url(#p-${pattern})`} />}
        </>
    );
}
