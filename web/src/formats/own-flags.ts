// Megatron-LM has three flags that say the chunks of a GPU, and refuses two of them at once (training/arguments.py). A script may have
// another one than the file that is written for its plan: what is to change is told of the script's own.
import type { ImportedKey } from '../core/api';

const CHUNKS =
    /^[ \t]*(--num-layers-per-virtual-pipeline-stage|--num-virtual-stages-per-pipeline-rank|--pipeline-model-parallel-layout)[ =][^\n]*\n?/m;
const STAGES = /--pipeline-model-parallel-size[ =]\S+/;

const asWritten = ({ key, value }: ImportedKey): string => `${key} ${/^[\w.,-]+$/.test(value) ? value : `'${value}'`}\n`;

// Both files with the script's flag in the first one; without any, where the same one stays right.
export function withOwnFlag(from: string, to: string, keys: readonly ImportedKey[]): [string, string] {
    const own = keys.filter((one) => one.fate === 'used' && CHUNKS.test(`${one.key} `)).at(-1);
    if (!own) return [from, to];
    const same = (part: RegExp): boolean => part.exec(from)?.[0].trim() === part.exec(to)?.[0].trim();
    if (same(CHUNKS) && same(STAGES)) return [from.replace(CHUNKS, ''), to.replace(CHUNKS, '')];
    const line = asWritten(own);
    const withLine = CHUNKS.test(from) ? from.replace(CHUNKS, () => line) : `${from.trimEnd()}\n${line}`;
    return [withLine, to];
}
