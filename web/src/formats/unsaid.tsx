import type { ImportedPlan } from '../core/api';
import { gpuLabel } from '../shared/answer-words';
import { NumberField } from '../shared/number-field';
import { CUSTOM_GPU, type Value } from '../state/state';
import type { Page } from '../store/page';
import { say, tell } from '../words/words';

// What the reader says of a run that its text seldom does.
export interface Also {
    gpu?: string;
    tokens?: Value;
}

export const withAlso = (plan: ImportedPlan, { gpu, tokens }: Also): ImportedPlan => ({
    ...plan,
    job: { ...plan.job, ...(gpu && { gpu, cluster: '' }), ...(typeof tokens === 'number' && { token_budget: tokens }) },
});

interface Props {
    page: Pick<Page, 'job' | 'catalog'>;
    plan: ImportedPlan; // as it is read
    also: Also;
    answer(also: Also): void;
}

// The kind of GPU, which would else be the page's, and the tokens of a run that counts the epochs of a data set.
export function Unsaid({ page, plan, also, answer }: Props) {
    const { gpu, token_budget } = plan.job;
    return (
        <>
            {gpu === undefined && (
                <label>
                    {say('form.gpu')}{' '}
                    <select
                        value={also.gpu ?? String(page.job.gpu)}
                        onChange={({ currentTarget: { value } }) => answer({ ...also, gpu: value })}
                    >
                        {page.job.gpu === CUSTOM_GPU && <option value={CUSTOM_GPU}>{gpuLabel(page)}</option>}
                        {page.catalog.gpus.map(({ id, label }) => (
                            <option key={id} value={id} selected={id === (also.gpu ?? page.job.gpu)}>
                                {label}
                            </option>
                        ))}
                    </select>
                </label>
            )}
            {token_budget === 0 && (
                <span>
                    {tell({ id: 'field.token_budget' })}{' '}
                    <NumberField
                        id="unsaid-tokens"
                        label={tell({ id: 'field.token_budget' })}
                        value={also.tokens ?? ''}
                        kind={{ whole: true, unit: 'tokens' }}
                        placeholder={say('budget.none')}
                        invalid={false}
                        onChange={(tokens) => answer({ ...also, tokens })}
                    />
                </span>
            )}
        </>
    );
}
