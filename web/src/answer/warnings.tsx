import type { Estimate } from '../core/api';
import { problemText } from '../shared/names';
import { say } from '../words/words';

// What can work, and should be known before it is started.
export const Warnings = ({ answer }: { answer: Estimate }) =>
    answer.warnings.map((warning) => (
        <p key={warning.rule} class="warning">
            <b>{say('problems.warning')}</b> {problemText(warning)}
        </p>
    ));
