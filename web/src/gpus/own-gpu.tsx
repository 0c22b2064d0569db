import { useState } from 'preact/hooks';
import type { Gpu, GpuField } from '../core/api';
import { format } from '../format/format';
import { gpuLabel, profileOf } from '../shared/answer-words';
import { problemAttributes } from '../shared/field-problems';
import { unitText, wordsFor } from '../shared/names';
import { NumberField } from '../shared/number-field';
import { kindOfGpu } from '../state/kind';
import { gpuKey, isGpuKey } from '../state/state';
import type { Actions, Page } from '../store/page';
import { say } from '../words/words';

interface Props {
    page: Page;
    act: Actions;
}

const MOST_NAME = 60; // characters

// Like a number of the base until one is typed; the base's stands in the empty field. Its help shows in the line below all of them.
function OneNumber({ page, act, field, base }: Props & { field: GpuField; base: Gpu | undefined }) {
    const key = gpuKey(field);
    const usual = base?.[field.key as keyof Gpu];
    const { invalid, describedBy, wrong } = problemAttributes(page, key);
    const value = page.job[key] ?? 'auto';
    const help = `field-${key}-help`;
    return (
        <div class="one">
            <label for={`field-${key}`}>{wordsFor('field', field.key)}</label>
            <span class="with-unit">
                <NumberField
                    id={`field-${key}`}
                    label={wordsFor('field', field.key)}
                    value={value}
                    auto
                    {...(field.type === 'number' && { decimals: field })}
                    kind={kindOfGpu(field)}
                    placeholder={typeof usual === 'number' ? format.number(usual) : say('own_gpu.unknown')}
                    invalid={invalid}
                    wrong={wrong}
                    describedBy={`${help} ${describedBy ?? ''}`.trim()}
                    onChange={(value, how) => act.change({ [key]: value }, how)}
                />
                {field.unit && <small>{unitText(typeof value === 'number' ? value : 0, field.unit)}</small>}
            </span>
            <p id={help} class="note">
                {wordsFor('field', `${field.key}.help`)}
            </p>
        </div>
    );
}

function Named({ page, act }: Props) {
    const { invalid, describedBy } = problemAttributes(page, 'gpu.name');
    return (
        <div class="one">
            <label for="field-gpu.name">{say('own_gpu.name')}</label>
            <input
                id="field-gpu.name"
                type="text"
                autocomplete="off"
                spellcheck={false}
                maxLength={MOST_NAME}
                aria-invalid={invalid}
                aria-describedby={describedBy}
                value={String(page.job['gpu.name'] ?? '')}
                onInput={(event) => act.change({ 'gpu.name': event.currentTarget.value }, 'type')}
            />
        </div>
    );
}

function Like({ page, act }: Props) {
    const { catalog, job } = page;
    const { invalid, describedBy } = problemAttributes(page, 'gpu.base');
    const base = String(job['gpu.base'] ?? '');
    return (
        <div class="one">
            <label for="field-gpu.base">{say('own_gpu.base')}</label>
            <select
                id="field-gpu.base"
                value={base}
                aria-invalid={invalid}
                aria-describedby={describedBy}
                onChange={(event) => act.change({ 'gpu.base': event.currentTarget.value, cluster: '' }, 'choose')}
            >
                {!profileOf(page) && <option value={base}>{say('form.unknown_gpu', { id: base })}</option>}
                {catalog.gpus.map(({ id, label }) => (
                    <option key={id} value={id} selected={id === base}>
                        {label}
                    </option>
                ))}
            </select>
        </div>
    );
}

// The numbers of the reader's own GPU, under the sentence that names it. Open while there are none yet, and where one is wrong.
export function OwnGpu({ page, act }: Props) {
    const { catalog, job, problems } = page;
    const base = profileOf(page);
    const [opened, open] = useState(() => catalog.gpu_fields.every((field) => (job[gpuKey(field)] ?? 'auto') === 'auto'));
    const wrong = problems.some(({ field }) => isGpuKey(field));
    return (
        <details
            class="own-gpu"
            open={opened || wrong}
            onToggle={({ currentTarget }) => currentTarget.open !== (opened || wrong) && open(currentTarget.open)}
        >
            <summary>{say('own_gpu.title', { name: gpuLabel(page) })}</summary>
            <div class="numbers">
                <Named page={page} act={act} />
                <Like page={page} act={act} />
                {catalog.gpu_fields.map((field) => (
                    <OneNumber key={field.key} page={page} act={act} field={field} base={base} />
                ))}
            </div>
            <p class="note">{say('own_gpu.intro', { base: base?.label ?? String(job['gpu.base'] ?? '') })}</p>
        </details>
    );
}
