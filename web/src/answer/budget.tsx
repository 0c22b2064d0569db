import { format } from '../format/format';
import { problemAttributes } from '../shared/field-problems';
import { fieldHelp, fieldName } from '../shared/names';
import { NumberField } from '../shared/number-field';
import { BUDGET } from '../state/state';
import type { Actions, Page } from '../store/page';
import { say } from '../words/words';

export interface BudgetProps {
    page: Page;
    act: Actions;
}

// How many tokens, at what price, with what power: from these the whole run follows.
export function Budget({ page, act }: BudgetProps) {
    const run = page.problems.length === 0 ? page.answer?.time.run : null;
    return (
        <div class="budget">
            {BUDGET.map((key) => {
                const field = page.catalog.fields.find((one) => one.key === key);
                if (field?.type !== 'number') return null;
                const value = page.job[key] ?? 0;
                const { invalid, describedBy, wrong, kind } = problemAttributes(page, key);
                const large = key === 'token_budget' && typeof value === 'number' && value >= 1e6;
                return (
                    <div key={key} class="field number">
                        <label for={`field-${key}`}>{fieldName(field)}</label>
                        <NumberField
                            id={`field-${key}`}
                            label={fieldName(field)}
                            value={value}
                            amount
                            {...(key === 'price_per_gpu_hour' && { decimals: field })}
                            placeholder={say('budget.none')}
                            kind={kind}
                            wrong={wrong}
                            invalid={invalid}
                            describedBy={[`field-${key}-help`, describedBy].filter(Boolean).join(' ')}
                            onChange={(next, how) => act.change({ [key]: next }, how)}
                        />
                        <p id={`field-${key}-help`} class="note">
                            {large ? say('budget.words', { tokens: format.short(value) }) : fieldHelp(field)}
                        </p>
                    </div>
                );
            })}
            <p class="note">{run ? say('budget.hours', { hours: format.rounded(run.gpu_hours), steps: run.steps }) : say('budget.ask')}</p>
        </div>
    );
}
