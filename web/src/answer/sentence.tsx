import type { FieldKey } from '../core/api';
import { format } from '../format/format';
import { gpuLabel, isTuned, modelLabel, profileOf } from '../shared/answer-words';
import { FIELDS_OF, type FieldsOf, problemAttributes } from '../shared/field-problems';
import { NumberField } from '../shared/number-field';
import { settledOn } from '../shared/settled';
import { Words } from '../shared/words';
import { CUSTOM_GPU, CUSTOM_MODEL, configOf, defaults, type Job, MAX_CONFIG, withConfig } from '../state/state';
import { withGpu } from '../state/with-gpu';
import type { Actions } from '../store/page';
import { say } from '../words/words';
import { ModelPicker } from './model-picker';
import { TokenBudget } from './tiles';

// The GPU chosen, or the reader's own: like the one before it, until a number is typed.
function toGpu(page: FieldsOf, id: string): Job {
    if (id !== CUSTOM_GPU) return { gpu: id, cluster: '' };
    const like = profileOf(page)?.id ?? defaults(page.catalog).gpu ?? '';
    return { gpu: id, cluster: '', 'gpu.name': say('form.own_gpu_name'), 'gpu.base': like };
}

// The question as a sentence; every bracket in it is a field.
export const Sentence = settledOn(FIELDS_OF, ({ page, act }: { page: FieldsOf; act: Actions }) => {
    const { catalog, job } = page;
    const custom = job.model === CUSTOM_MODEL;
    const config = configOf(job);
    const pasteText = config ? JSON.stringify(config, null, 2) : '';
    const number = (key: FieldKey, label: string) => (
        <NumberField
            id={`field-${key}`}
            label={label}
            value={job[key] ?? ''}
            {...problemAttributes(page, key)}
            onChange={(value, how) => act.change({ [key]: value }, how)}
        />
    );
    // A number of GPUs may say which, too.
    const named = (text: string) => withGpu(catalog, text, String(job.gpu));
    const gpus = (
        <NumberField
            id="field-gpus"
            label={say('form.gpus')}
            value={job.gpus ?? ''}
            {...problemAttributes(page, 'gpus')}
            apart={(text) => named(text)?.amount ?? text}
            onChange={(value, how, text) => {
                const also = typeof value === 'number' ? named(text)?.gpu : undefined;
                act.change({ gpus: value, ...(also && also !== job.gpu && toGpu(page, also)) }, how);
            }}
        />
    );
    const model = (
        <ModelPicker
            models={catalog.models}
            value={String(job.model)}
            label={modelLabel(page)}
            {...problemAttributes(page, 'model')}
            onChoose={(given, sets) =>
                typeof given === 'string'
                    ? act.change({ model: given, ...sets }, 'choose')
                    : act.replaceJob({ ...withConfig(job, given), ...sets }, 'choose')
            }
            onPaste={(text = pasteText) =>
                text.length > MAX_CONFIG ? act.notify('too_large', format.megabytes(text.length)) : act.paste(text)
            }
        />
    );
    const edit = (
        <>
            {custom && (
                <button type="button" class="link" onClick={() => act.paste(pasteText)}>
                    {say('form.edit_config')}
                </button>
            )}{' '}
            {isTuned(job) && <a href="#adjust">{say('answer.adapters', { model: '' })}</a>}
        </>
    );
    const gpu = (
        <select
            id="field-gpu"
            aria-label={say('form.gpu')}
            aria-invalid={problemAttributes(page, 'gpu').invalid}
            aria-describedby={problemAttributes(page, 'gpu').describedBy}
            value={String(job.gpu)}
            onChange={(event) => act.change(toGpu(page, event.currentTarget.value), 'choose')}
        >
            {job.gpu !== CUSTOM_GPU && catalog.gpus.every((one) => one.id !== job.gpu) && (
                <option value={String(job.gpu)}>{say('form.unknown_gpu', { id: String(job.gpu) })}</option>
            )}
            {catalog.gpus.map((one) => (
                <option key={one.id} value={one.id} selected={one.id === job.gpu}>
                    {one.label}
                </option>
            ))}
            <option value={CUSTOM_GPU} selected={job.gpu === CUSTOM_GPU}>
                {job.gpu === CUSTOM_GPU ? gpuLabel(page) : say('form.own_gpu')}
            </option>
        </select>
    );
    const slots = {
        model,
        edit,
        gpu,
        gpus,
        sequence_length: number('sequence_length', say('form.sequence')),
        global_batch: number('global_batch', say('form.batch')),
        token_budget: <TokenBudget page={page} act={act} />,
    };
    return (
        <form class="sentence" aria-label={say('form.label')} onSubmit={(event) => event.preventDefault()}>
            <Words id="form.sentence" slots={slots} tags={{ keep: (inside) => <span class="keep">{inside}</span> }} />
        </form>
    );
});
