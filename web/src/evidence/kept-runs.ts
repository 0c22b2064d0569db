// The reader's own runs behind a calibration that is in use. They stay in this browser: the link holds only what they set.
import type { FlopConvention, Settings } from '../core/api';
import { entriesOf } from '../core/keys';
import type { Job } from '../state/state';

// What outlives the part's folding.
export interface Typed {
    text: string | null; // null: nothing typed yet
    convention: FlopConvention | null; // null: not chosen
}

const KEY = 'fourfold-runs';

export function keepRuns({ text, convention }: Typed, set: Settings): void {
    try {
        localStorage.setItem(KEY, JSON.stringify({ text, convention, set }));
    } catch {
        // Then they last until the page is closed.
    }
}

// Those that set what the job has; of another calibration there are none.
export function keptRuns(job: Job): Typed {
    try {
        const { text, convention, set } = JSON.parse(localStorage.getItem(KEY) ?? '') as Typed & { set: Settings };
        if (entriesOf(set).every(([key, value]) => job[key] === value)) return { text, convention };
    } catch {
        // none, or storage is forbidden
    }
    return { text: null, convention: null };
}
