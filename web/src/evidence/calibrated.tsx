import type { Estimate } from '../core/api';
import { say } from '../words/words';

// On how many of the reader's own runs an estimate rests.
export function Calibrated({ answer: { job } }: { answer: Estimate }) {
    const [time, memory] = [Number(job.time_runs), Number(job.memory_runs)];
    if (time === 0 && memory === 0) return null;
    const said =
        time > 0 && memory > 0
            ? say('calibrated.both', { time, memory })
            : time > 0
              ? say('calibrated.time', { runs: time })
              : say('calibrated.memory', { runs: memory });
    return <p class="note calibrated">{said}</p>;
}
