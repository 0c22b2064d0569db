// What was counted for a plan, as read_run() compares it with what the run printed.
import type { Alternatives, Counted, Estimate } from '../core/api';

export function countedOf(answer: Estimate, alternatives: Alternatives | null): Counted {
    const { card_bytes, total_bytes, reserved_bytes, whole_bytes, time, job, stage, groups } = answer;
    const [change] = alternatives?.changes ?? [];
    return {
        card_bytes,
        total_bytes,
        reserved_bytes,
        whole_bytes,
        step_seconds: time.step_seconds,
        low_seconds: time.low_seconds,
        high_seconds: time.high_seconds,
        gpus: Number(job.gpus),
        sequence_length: Number(job.sequence_length),
        global_batch: Number(job.global_batch),
        stage,
        items: groups.flatMap(({ items }) => items.map(({ id, bytes }) => ({ id, bytes }))),
        change: change ? { label: change.label, saved_bytes: change.saved_bytes } : null,
    };
}
