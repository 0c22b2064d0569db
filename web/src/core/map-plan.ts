import type { Heat } from './heat';

// One entry of the map's columns, as a plan.
export const planAt = ({ columns }: Heat, entry: number) =>
    ({
        tensor_parallel: columns.tensor_parallel[entry] ?? 1,
        pipeline_parallel: columns.pipeline_parallel[entry] ?? 1,
        context_parallel: columns.context_parallel[entry] ?? 1,
        micro_batch: columns.micro_batch[entry] ?? 1,
    }) as const;
