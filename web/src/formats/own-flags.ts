// Megatron-LM has three flags that say the chunks of a GPU, and refuses two of them at once (training/arguments.py). A script may have
// another one than the file that is written for its plan: what is to change is told of the script's own.
import type { ImportedKey } from '../core/api';
import { flagText } from './changed-lines';

const CHUNKS =
    /^[ \t]*(--num-layers-per-virtual-pipeline-stage|--num-virtual-stages-per-pipeline-rank|--pipeline-model-parallel-layout)[ =][^\n]*\n?/m;
const STAGES = /--pipeline-model-parallel-size[ =]\S+/;

// Megatron-LM refuses the one beside the other (transformer_config.py), and a plan does not have the second.
const OVERLAP = /^[ \t]*--overlap-moe-expert-parallel-comm\b/m;
const SHARED = '--moe-shared-expert-overlap';

// Other flags of the script that say what another plan has otherwise ("--recompute-activations"), and that no file written for a plan has.
function withOthers(from: string, to: string, keys: readonly ImportedKey[], changed: ReadonlySet<string>): string {
    const both = new Set(`${from}\n${to}`.match(/--[\w-]+/g));
    if (both.size === 0) return from;
    const only = keys.filter(
        ({ key, fate, fields }) =>
            fate === 'used' && key.startsWith('--') && !both.has(key) && fields.length > 0 && fields.every((one) => changed.has(one)),
    );
    return only.reduce((text, one) => withLine(text, `${flagText(one)}\n`), from);
}

const withLine = (text: string, line: string): string => `${text.trimEnd()}\n${line}`;

// The first file with what the script must give up for the other one.
function withGivenUp(from: string, to: string, keys: readonly ImportedKey[]): string {
    const has = keys.some(({ key, value }) => key === SHARED && value !== 'false');
    return has && OVERLAP.test(to) && !OVERLAP.test(from) ? withLine(from, `${SHARED}\n`) : from;
}

// Both files with the script's flags in the first one; without any, where the same one stays right. `changed`: fields of the plan.
export function withOwnFlags(written: string, to: string, keys: readonly ImportedKey[], changed: ReadonlySet<string>): [string, string] {
    const chunks = keys.filter((one) => !CHUNKS.test(`${one.key} `));
    const from = withOthers(withGivenUp(written, to, keys), to, chunks, changed);
    const own = keys.filter((one) => one.fate === 'used' && CHUNKS.test(`${one.key} `)).at(-1);
    if (!own) return [from, to];
    const same = (part: RegExp): boolean => part.exec(from)?.[0].trim() === part.exec(to)?.[0].trim();
    if (same(CHUNKS) && same(STAGES)) return [from.replace(CHUNKS, ''), to.replace(CHUNKS, '')];
    const line = `${flagText(own)}\n`;
    return [CHUNKS.test(from) ? from.replace(CHUNKS, () => line) : withLine(from, line), to];
}
