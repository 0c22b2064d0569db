// The plan as a script: it goes to stdout, and what it cannot say to stderr.
import type { ConfigFormatAsked, Exported, JobRefusal, JobRequest, MegatronRelease } from '../core/api';
import { exportChosen } from '../core/chosen';
import { say, tell } from '../words/words';
import { type Asked, type Done, FITS, refused } from './asked';

// What reads the file: the plan is searched for that, as far as the job does not say otherwise.
const WHOLE = { tensor_parallel: 1, context_parallel: 1, pipeline_parallel: 1 }; // where the file alone splits no model
const READERS: Partial<Record<string, JobRequest>> = {
    torchtitan: { framework: 'pytorch' },
    nanotron: { framework: 'nanotron' },
    deepspeed: { framework: 'pytorch', ...WHOLE },
    accelerate: { framework: 'transformers' },
};

export function exportPlan({ core, request: job, own }: Asked): Done {
    const request = { ...READERS[own.to ?? ''], ...job };
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
