// The list of the best plans as a table for programs: RFC 4180, every column, its unit in the head where the name does not say it.
import type { Catalog, Ranked } from '../core/api';
import { planAt, rows } from '../store/ranked';

const quoted = (cell: string): string => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
const line = (cells: readonly unknown[]): string => `${cells.map((cell) => quoted(String(cell ?? ''))).join(',')}\r\n`;

export function rankedCsv(catalog: Catalog, ranked: Ranked, most = rows(ranked)): string {
    const keys = Object.keys(ranked.plans);
    const head = (key: string): string => {
        const unit = catalog.fields.find((field) => field.key === key)?.unit;
        return unit ? `${key} [${unit}]` : key;
    };
    const plans = Array.from({ length: Math.min(most, rows(ranked)) }, (_, i): { [key: string]: unknown } => planAt(ranked, i));
    return [line(['rank', ...keys.map(head)]), ...plans.map((plan, i) => line([i + 1, ...keys.map((key) => plan[key])]))].join('');
}
