// How people write a field's number, as the catalogue says: what "8k" means, and in which other units it may be given.
import type { Catalog, FieldKey, GpuField } from '../core/api';
import type { Kind } from '../format/typed';

// `known`: the value of another field of the job.
export function kindOf({ fields }: Catalog, key: string, known: (key: FieldKey) => unknown): Kind {
    const field = fields.find((one) => one.key === key);
    if (field?.type !== 'integer' && field?.type !== 'number') return {};
    const { unit, thousand, also, type } = field;
    const thousandOf = (one: string | undefined): number => fields.find(({ key }) => key === one)?.thousand ?? 1000;
    const other = also && (also.times ?? also.per);
    const value = other && known(other);
    return {
        whole: type === 'integer',
        unit,
        ...(thousand !== undefined && { thousand }),
        ...(also?.times && { product: true }),
        ...(also &&
            typeof value === 'number' && {
                also: {
                    unit: also.unit,
                    factor: also.times ? value : 1 / value,
                    thousand: thousandOf(other),
                },
            }),
    };
}

// Data sheets print some of these in other units.
const PRINTED: Record<string, Kind['also']> = {
    bf16_dense_tflop_per_s: { unit: 'pflop_per_s', factor: 1000, thousand: 1000 },
    fp8_dense_tflop_per_s: { unit: 'pflop_per_s', factor: 1000, thousand: 1000 },
    hbm_gbyte_per_s: { unit: 'tbyte_per_s', factor: 1000, thousand: 1000 },
    link_gbyte_per_s: { unit: 'gbit_per_s', factor: 1 / 8, thousand: 1000 },
    network_gbyte_per_s: { unit: 'gbit_per_s', factor: 1 / 8, thousand: 1000 },
};

export function kindOfGpu({ key, type, unit }: GpuField): Kind {
    const also = PRINTED[key];
    return { whole: type === 'integer', unit, ...(also && { also }) };
}
