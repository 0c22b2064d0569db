// The plan as a script: it goes to stdout, and what it cannot say to stderr.
import type { ConfigFormatAsked, Exported, JobRefusal, MegatronRelease } from '../core/api';
import { exportChosen } from '../core/chosen';
import { say, tell } from '../words/words';
import { type Asked, type Done, FITS, refused } from './asked';

export function exportPlan({ core, request, own }: Asked): Done {
    const { to, release, hosts } = own; // the core says what is wrong with them
    const asked = {
        ...(to !== undefined && { format: to as ConfigFormatAsked }),
        ...(release !== undefined && { release: release as MegatronRelease }),
        ...(hosts !== undefined && { hosts: hosts.split(',') }),
    };
    const text = exportChosen(core, request, asked);
    const answer = JSON.parse(text) as Exported | JobRefusal;
    if (!answer.ok) return refused(text);
    const { yours, needs, left_out } = answer;
    const lacks = left_out.length > 0 ? [`${say('formats.left_out')}:`, ...left_out.map((one) => `  ${tell(one)}`)] : [];
    const fill = yours.length > 0 ? [say('formats.yours', { names: yours })] : [];
    return {
        status: FITS,
        answer: text,
        text: answer.text,
        notes: [...fill, ...(needs ? [tell(needs)] : []), ...lacks],
    };
}
