import type { Field } from '../api';
import { t } from '../i18n';
import { DEGREES, type Value } from '../state';
import type { Actions, Page } from '../store';
import { NumberField } from './number-field';
import { problemAttributes } from './problems';

// Fields that have a place of their own: the sentence and the knobs.
const ELSEWHERE = new Set<string>(['gpus', 'sequence_length', 'global_batch', ...DEGREES]);

// The example drawn at build time leaves out what is folded away: nobody sees it, and everybody would download it.
const IN_BROWSER = typeof document !== 'undefined';

interface FieldProps {
    page: Page;
    field: Field;
    act: Actions;
}

function Control({ page, field, act }: FieldProps) {
    const { invalid, describedBy } = problemAttributes(page, field.key);
    const value = page.job[field.key] ?? field.default;
    const id = `field-${field.key}`;
    const described = [`${id}-help`, describedBy].filter(Boolean).join(' ');
    const set = (next: Value) => act.change({ [field.key]: next }, 'choose');
    if (field.type === 'boolean') {
        return (
            <input
                id={id}
                type="checkbox"
                checked={value === true}
                aria-invalid={invalid}
                aria-describedby={described}
                onChange={(event) => set(event.currentTarget.checked)}
            />
        );
    }
    if (field.type === 'choice') {
        return (
            <select
                id={id}
                value={String(value)}
                aria-invalid={invalid}
                aria-describedby={described}
                onChange={(event) => set(event.currentTarget.value)}
            >
                {field.choices.every((choice) => choice.id !== value) && <option value={String(value)}>{String(value)}</option>}
                {field.choices.map((choice) => (
                    <option key={choice.id} value={choice.id} selected={choice.id === value} title={choice.help}>
                        {choice.label}
                    </option>
                ))}
            </select>
        );
    }
    return (
        <NumberField
            id={id}
            label={field.label}
            value={value}
            auto={field.type === 'integer' && field.auto}
            placeholder={t.adjust.auto}
            invalid={invalid}
            describedBy={described}
            onChange={(next, how) => act.change({ [field.key]: next }, how)}
        />
    );
}

const helpOf = (field: Field, value: Value | undefined): string =>
    (field.type === 'choice' && field.choices.find((choice) => choice.id === value)?.help) || field.help;

function OptionField({ page, field, act }: FieldProps) {
    return (
        <div class={`field ${field.type}`}>
            <label for={`field-${field.key}`}>{field.label}</label>
            <Control page={page} field={field} act={act} />
            <p id={`field-${field.key}-help`} class="note">
                {helpOf(field, page.job[field.key])}
            </p>
        </div>
    );
}

function ClusterField({ page, act }: { page: Page; act: Actions }) {
    const { clusters } = page.catalog;
    const { gpu, cluster } = page.job;
    const matching = clusters.filter((one) => one.gpu === gpu || one.id === cluster);
    const { invalid, describedBy } = problemAttributes(page, 'cluster');
    if (matching.length === 0 && cluster === '') return null;
    return (
        <div class="field choice">
            <label for="field-cluster">{t.adjust.cluster}</label>
            <select
                id="field-cluster"
                value={String(cluster)}
                aria-invalid={invalid}
                aria-describedby={`field-cluster-help ${describedBy ?? ''}`.trim()}
                onChange={(event) => act.change({ cluster: event.currentTarget.value }, 'choose')}
            >
                <option value="">{t.adjust.noCluster}</option>
                {cluster !== '' && matching.every((one) => one.id !== cluster) && (
                    <option value={String(cluster)}>{String(cluster)}</option>
                )}
                {matching.map((one) => (
                    <option key={one.id} value={one.id} selected={one.id === cluster}>
                        {one.label}
                    </option>
                ))}
            </select>
            <p id="field-cluster-help" class="note">
                {t.adjust.clusterHelp}
            </p>
        </div>
    );
}

export function Options({ page, act }: { page: Page; act: Actions }) {
    const fields = page.catalog.fields.filter((field) => !ELSEWHERE.has(field.key));
    const changed = fields.filter((field) => page.job[field.key] !== field.default).length + (page.job.cluster === '' ? 0 : 1);
    return (
        <details class="more">
            <summary>
                {t.adjust.more} {changed > 0 && <small>{t.adjust.changed(changed)}</small>}
            </summary>
            {IN_BROWSER && (
                <>
                    <ClusterField page={page} act={act} />
                    {fields.map((field) => (
                        <OptionField key={field.key} page={page} field={field} act={act} />
                    ))}
                </>
            )}
        </details>
    );
}
