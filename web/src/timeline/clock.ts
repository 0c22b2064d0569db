import { format } from '../format/format';

// Points in time up to `longest` seconds in one unit, as finely as neighbours differ that lie `finest` apart.
export function clockOf(longest: number, finest: number): { unit: string; text(seconds: number): string } {
    const [size, unit] = longest >= 10 ? [1, 's'] : [1e-3, 'ms'];
    const digits = Math.max(0, Math.min(3, Math.ceil(-Math.log10(finest / size)) + 1));
    return { unit, text: (seconds) => format.fixed(seconds / size, digits) };
}
