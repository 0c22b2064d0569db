// The phases of a run in a link, short: "phases=15e12_8192_16777216_16384,8e11_131072_16777216_16384;keep_degrees=true".
// A phase is its tokens, sequence length, tokens of a step and GPUs; what was typed and is no number stays as it was typed.
import type { Value } from '../state/state';

export const COLUMNS = ['tokens', 'sequence_length', 'tokens_per_step', 'gpus'] as const;
// The field of a run that is written in the same way.
export const LIKE = {
    tokens: 'token_budget',
    sequence_length: 'sequence_length',
    tokens_per_step: 'sequence_length',
    gpus: 'gpus',
} as const;
export type Row = Record<(typeof COLUMNS)[number], Value>;
export const TROUBLES = {
    storage_gbyte_per_s: 'auto',
    restart_seconds: 600,
    failure_hours_per_gpu: 'auto',
    checkpoint_seconds: 'auto',
} as const;
export type Trouble = keyof typeof TROUBLES;
export type Phased = { rows: Row[]; keep_degrees: boolean } & Record<Trouble, Value>;

export const MOST_PHASES = 12;
const KEEP = 'keep_degrees';
const troubles = Object.keys(TROUBLES) as Trouble[];

const read = (text: string): Value => (text !== '' && Number.isFinite(Number(text)) ? Number(text) : text);
const write = (value: Value): string => encodeURIComponent(String(value).replaceAll(/[_,;=]/g, ' '));

export function parsePhases(text: string | null): Phased | null {
    if (!text) return null;
    const [list = '', ...options] = text.split(';');
    const rows = list.split(',').map((one): Row => {
        const cells = one.split('_');
        return Object.fromEntries(COLUMNS.map((key, i) => [key, read(cells[i] ?? '')])) as Row;
    });
    const phased: Phased = { rows: rows.slice(0, MOST_PHASES), keep_degrees: false, ...TROUBLES };
    for (const option of options) {
        const [name = '', value = ''] = option.split('=');
        const key = troubles.find((one) => one === name);
        if (key) phased[key] = read(value);
        else if (name === KEEP) phased.keep_degrees = value === 'true';
    }
    return phased;
}

// Behind the phases: names that parsePhases() does not know.
export const unknownOptions = (text = ''): string[] =>
    text
        .split(';')
        .slice(1)
        .map((option) => option.split('=')[0] ?? '')
        .filter((name) => name !== '' && name !== KEEP && !troubles.some((one) => one === name));

export function formatPhases({ rows, keep_degrees, ...rest }: Phased): string {
    const list = rows.map((row) => COLUMNS.map((key) => write(row[key])).join('_')).join(',');
    const options = troubles.filter((key) => rest[key] !== TROUBLES[key]).map((key) => `;${key}=${write(rest[key])}`);
    return list + options.join('') + (keep_degrees ? `;${KEEP}=true` : '');
}
