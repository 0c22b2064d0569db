// The further pools of a run in a link, short: "pools=h100-sxm-80gb_32,a100-sxm-40gb_8". Each is a GPU's id and how many; what was typed and
// is no number stays as it was typed.
import type { Value } from '../state/state';

export interface More {
    gpu: string;
    gpus: Value;
}
export const MOST_POOLS = 3;

const number = (text: string): Value => (text !== '' && Number.isFinite(Number(text)) ? Number(text) : text);

export const parsePools = (text: string | null): More[] =>
    (text ?? '')
        .split(',')
        .filter((one) => one !== '')
        .slice(0, MOST_POOLS)
        .map((one) => {
            const [gpu = '', gpus = ''] = one.split('_');
            return { gpu, gpus: number(gpus) };
        });

export const formatPools = (pools: readonly More[]): string =>
    pools.map(({ gpu, gpus }) => `${gpu}_${encodeURIComponent(String(gpus).replaceAll(/[_,]/g, ' '))}`).join(',');
