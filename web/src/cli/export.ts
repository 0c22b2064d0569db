// The plan as a script: it goes to stdout, and what it cannot say to stderr.
import type { Exported, JobRefusal } from '../core/api';
import { say, tell } from '../words/words';
import { type Asked, type Done, FITS, refused } from './asked';

const formatOf = (name: string): string => (name === 'megatron' ? 'megatron-lm' : name);

export function exportPlan({ core, request, own }: Asked): Done {
    const format = own.to === undefined ? {} : { format: formatOf(own.to) };
    const text = core.export_plan(JSON.stringify({ ...request, ...format }));
    const answer = JSON.parse(text) as Exported | JobRefusal;
    if (!answer.ok) return refused(text);
    const { yours, needs, left_out } = answer;
    const lacks = left_out.length > 0 ? [`${say('formats.left_out')}:`, ...left_out.map((one) => `  ${tell(one)}`)] : [];
    return {
        status: FITS,
        answer: text,
        text: answer.text,
        notes: [say('formats.yours', { names: yours }), ...(needs ? [tell(needs)] : []), ...lacks],
    };
}
