// Sums of what the core gives item by item.
import type { TimeItem, TimeKind } from '../core/api';

// A part of the card.
export const sumOf = <Part extends { bytes: number; share: number }>(parts: Part[]): { bytes: number; share: number } => ({
    bytes: parts.reduce((sum, part) => sum + part.bytes, 0),
    share: parts.reduce((sum, part) => sum + part.share, 0),
});

const KINDS: readonly TimeKind[] = ['compute', 'tensor', 'context', 'pipeline', 'data', 'bubble', 'other'];

// The items of a step, one sum for each kind.
export function kindsOf(items: TimeItem[]): { kind: TimeKind; seconds: number; share: number }[] {
    return KINDS.flatMap((kind) => {
        const inside = items.filter((item) => item.kind === kind);
        return inside.length === 0
            ? []
            : {
                  kind,
                  seconds: inside.reduce((sum, item) => sum + item.seconds, 0),
                  share: inside.reduce((sum, item) => sum + item.share, 0),
              };
    });
}
