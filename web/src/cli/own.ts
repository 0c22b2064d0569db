// Numbers behind options of the command line itself. Those of a job are the core's to judge.
import { typedFormat } from '../format/typed';

const typed = typedFormat(() => '.');

// From 1 on; null: it is none.
export function wholeOf(text: string, most: number): number | null {
    const value = typed.read(text, { whole: true });
    return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= most ? value : null;
}

export const numberOf = (text: string, unit: string): number | string => typed.read(text, { unit });
