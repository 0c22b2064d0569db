// How people write a field's number, as the catalogue says: what "8k" means, and in which other units it may be given.
import type { Catalog, FieldKey } from '../core/api';
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
