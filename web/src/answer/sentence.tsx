import { t } from '../i18n';
import { problemAttributes } from '../shared/field-problems';
import { NumberField } from '../shared/number-field';
import { modelLabel } from '../shared/sentences';
import { CUSTOM_MODEL, configOf } from '../state/state';
import type { Actions, Page } from '../store/page';
import { ModelPicker } from './model-picker';

// The question as a sentence; every bracket in it is a field.
export function Sentence({ page, act }: { page: Page; act: Actions }) {
    const { catalog, job } = page;
    const custom = job.model === CUSTOM_MODEL;
    const config = configOf(job);
    const pasteText = config ? JSON.stringify(config, null, 2) : '';
    const number = (key: string, label: string) => (
        <NumberField
            id={`field-${key}`}
            label={label}
            value={job[key] ?? ''}
            {...problemAttributes(page, key)}
            onChange={(value, how) => act.change({ [key]: value }, how)}
        />
    );
    return (
        <form class="sentence" aria-label={t.form.label} onSubmit={(event) => event.preventDefault()}>
            {t.form.train}{' '}
            <ModelPicker
                models={catalog.models}
                value={String(job.model)}
                label={modelLabel(page)}
                {...problemAttributes(page, 'model')}
                onChoose={(id) => act.change({ model: id }, 'choose')}
                onPaste={() => act.paste(pasteText)}
            />{' '}
            {custom && (
                <button type="button" class="link" onClick={() => act.paste(pasteText)}>
                    {t.form.editConfig}
                </button>
            )}{' '}
            {t.form.on}{' '}
            <span class="keep">
                {number('gpus', t.form.gpus)} {t.form.gpusTimes}{' '}
                <select
                    id="field-gpu"
                    aria-label={t.form.gpu}
                    aria-invalid={problemAttributes(page, 'gpu').invalid}
                    aria-describedby={problemAttributes(page, 'gpu').describedBy}
                    value={String(job.gpu)}
                    onChange={(event) => act.change({ gpu: event.currentTarget.value, cluster: '' }, 'choose')}
                >
                    {catalog.gpus.every((gpu) => gpu.id !== job.gpu) && (
                        <option value={String(job.gpu)}>{t.form.unknownGpu(String(job.gpu))}</option>
                    )}
                    {catalog.gpus.map((gpu) => (
                        <option key={gpu.id} value={gpu.id} selected={gpu.id === job.gpu}>
                            {gpu.label}
                        </option>
                    ))}
                </select>
            </span>{' '}
            {t.form.with}{' '}
            <span class="keep">
                {number('sequence_length', t.form.sequence)}
                {t.form.afterSequence}
            </span>{' '}
            <span class="keep">
                {number('global_batch', t.form.batch)} {t.form.afterBatch}
            </span>
        </form>
    );
}
