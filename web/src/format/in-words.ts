// How a number stands in a sentence. A template says which of these it wants: {used, bytes}; numbers are in SI units.
import { format } from './format';

const NO_BREAK = '\u00a0';
const GIGA = 1e9;
const TERA = 1e12;
const LARGE = 1e10;

export const count = (value: number): string => format.count(value);
// A large one that three digits say stands as people write it: 15 trillion, not 1.5×10¹³.
export const number = (value: number): string =>
    value >= LARGE && Number(value.toPrecision(3)) === value ? format.short(value) : format.measured(value);
export const percent = (share: number): string => format.percent(share);
export const bytes = (size: number): string => `${format.gb(size)}${NO_BREAK}GB`;
export const seconds = (time: number): string => format.duration(time);
export const rate = (bytesPerSecond: number): string => `${format.rounded(bytesPerSecond / GIGA)}${NO_BREAK}GB/s`;
export const flops = (perSecond: number): string => `${format.rounded(perSecond / TERA)}${NO_BREAK}TFLOP/s`;
export const list = (names: readonly string[]): string => format.enumerate(names);
