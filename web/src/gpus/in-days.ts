// "2 weeks" or "1 か月" where days are asked for: how many they are.
import { format } from '../format/format';

const LONGER: readonly [unit: RegExp, days: number][] = [
    [/\s*(?:weeks?|週間?|周)\s*$/i, 7],
    [/\s*(?:months?|[かヶカケ]月|个?月)\s*$/i, 30],
    [/\s*(?:years?|年)\s*$/i, 365],
];

export function inDays(text: string): string {
    const [unit, days = 1] = LONGER.find(([pattern]) => pattern.test(text)) ?? [];
    const count = unit && format.read(text.replace(unit, ''), {});
    return typeof count === 'number' ? String(Math.round(count * days)) : text;
}
