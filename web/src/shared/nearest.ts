// The name that was probably meant: fields and ids are the core's to guess; the commands and options of the command line, and the parts of a
// link, are ours.
// Letters that are wrong, missing, too many, or swapped with their neighbour.
export function distance(a: string, b: string): number {
    const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)];
    const at = (i: number, j: number): number => rows[i]?.[j] ?? Number.POSITIVE_INFINITY;
    for (let i = 1; i <= a.length; i++) {
        rows.push([i]);
        for (let j = 1; j <= b.length; j++) {
            const swapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? at(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY;
            const changed = at(i - 1, j - 1) + Number(a[i - 1] !== b[j - 1]);
            rows[i]?.push(Math.min(changed, at(i - 1, j) + 1, at(i, j - 1) + 1, swapped));
        }
    }
    return at(a.length, b.length);
}

// Up to a third of its letters may be wrong.
export function nearestName(name: string, names: readonly string[]): string | null {
    const near = names.map((one) => ({ one, off: distance(name, one) })).sort((a, b) => a.off - b.off)[0];
    return near && near.off <= Math.max(1, Math.floor(near.one.length / 3)) ? near.one : null;
}
