import type { Estimate, Exported } from '../core/api';
import type { Core } from '../core/client';
import { DialogDoor } from '../shared/dialog-door';
import type { Page } from '../store/page';
import { fetchWords, say } from '../words/words';

interface Props {
    page: Page;
    answer: Estimate;
    asks: Pick<Core, 'exportPlan' | 'estimate'>;
}

// The button that shows the plan as a script. What it opens comes in a file of its own, with the first press.
export function Launch({ page, answer, asks }: Props) {
    const fetch = async () => {
        const [panel, { importPlan }, script] = await Promise.all([
            import('./panel'),
            import('./reader'),
            // Megatron-LM has no adapters.
            asks.exportPlan(answer.job.trained === 'lora' ? { ...answer.job, format: 'megatron-bridge' } : answer.job),
            fetchWords('formats', 'wrong'),
        ]);
        if (!script.ok) throw new Error('the plan is no plan');
        return { ...panel, importPlan, script: script satisfies Exported };
    };
    return (
        <DialogDoor
            label={say('answer.launch')}
            fetch={fetch}
            draw={({ ScriptPanel, importPlan, script }, close) => (
                <ScriptPanel page={page} job={answer.job} script={script} asks={{ ...asks, importPlan }} close={close} />
            )}
        />
    );
}
