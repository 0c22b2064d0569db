// Memory and text sizes. GB is the card's own name for its size, counted in units of 2^30 bytes.
import { type Digits, signed } from './numbers';

export interface Sizes {
    nominal(gib: number): string; // the size in a card's name: 80
    gb(bytes: number): string; // three significant digits, no unit: 56.3
    headline(bytes: number, card: number): string; // whole GB from 10 on, unless that would read as the card's size: 56, 80.2; 20.5 of 24
    safe(bytes: number, card: number, needs?: number): string; // the line, as exactly, rounded down, but no less than what keeps it: 68; 20.5
    change(bytes: number): string; // signed: +24.3, −1.20, ±0
    gib(bytes: number): string; // for tables: two decimals
    bytes(bytes: number): string; // exact: 60,450,574,336
    megabytes(characters: number): string; // the size of a pasted text
}

const GIB = 2 ** 30;
const SMALL = 40 * GIB; // a card on which a whole GB is much

export function sizesFormat({ decimals, exact, three }: Digits): Sizes {
    const gb = (bytes: number): string => three(bytes / GIB);
    return {
        nominal: exact,
        gb,
        headline: (bytes, card) =>
            bytes >= 9.5 * GIB && card >= SMALL && Math.abs(bytes - card) >= GIB ? decimals(0).format(bytes / GIB) : three(bytes / GIB),
        safe: (bytes, card, needs = 0) => {
            const steps = card < SMALL ? 10 : 1; // of a GB
            const down = Math.floor((bytes / GIB) * steps);
            return exact((needs <= bytes ? Math.max(down, Math.round((needs / GIB) * steps)) : down) / steps);
        },
        change: (bytes) => (Math.abs(bytes) < GIB / 200 ? '±0' : signed(bytes, gb(Math.abs(bytes)))),
        gib: (bytes) => decimals(2).format(bytes / GIB),
        bytes: (bytes) => decimals(0).format(bytes),
        megabytes: (characters) => decimals(1).format(characters / 1e6),
    };
}
