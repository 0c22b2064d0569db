// Megatron-LM has three flags that say the chunks of a GPU, and refuses two of them at once (training/arguments.py). A script may have
// another one than the file that is written for its plan: what is to change is told of the script's own.
import type { ImportedKey } from '../core/api';

const CHUNKS =
    /^[ \t]*(--num-layers-per-virtual-pipeline-stage|--num-virtual-stages-per-pipeline-rank|--pipeline-model-parallel-layout)[ =][^\n]*\n?/m;
const STAGES = /--pipeline-model-parallel-size[ =]\S+/;

const asWritten = ({ key, value }: ImportedKey): string => `${key} ${/^[\w.,-]+$/.test(value) ? value : `'${value}'`}\n`;

// Megatron-LM refuses the one beside the other (transformer_config.py), and a plan does not have the second.
const OVERLAP = /^[ \t]*--overlap-moe-expert-parallel-comm\b/m;
const SHARED = '--moe-shared-expert-overlap';

const withLine = (text: string, line: string): string => `${text.trimEnd()}\n${line}`;

// The first file with what the script must give up for the other one.
function withGivenUp(from: string, to: string, keys: readonly ImportedKey[]): string {
    const has = keys.some(({ key, value }) => key === SHARED && value !== 'false');
    return has && OVERLAP.test(to) && !OVERLAP.test(from) ? withLine(from, `${SHARED}\n`) : from;
}

// Both files with the script's flag in the first one; without any, where the same one stays right.
export function withOwnFlag(written: string, to: string, keys: readonly ImportedKey[]): [string, string] {
    const from = withGivenUp(written, to, keys);
    const own = keys.filter((one) => one.fate === 'used' && CHUNKS.test(`${one.key} `)).at(-1);
    if (!own) return [from, to];
    const same = (part: RegExp): boolean => part.exec(from)?.[0].trim() === part.exec(to)?.[0].trim();
    if (same(CHUNKS) && same(STAGES)) return [from.replace(CHUNKS, ''), to.replace(CHUNKS, '')];
    const line = asWritten(own);
    return [CHUNKS.test(from) ? from.replace(CHUNKS, () => line) : withLine(from, line), to];
}
