import type { FunctionComponent } from 'preact';
import type { BooleanField, ChoiceField, Estimate, Field, FieldKey, Json, SetField } from '../core/api';
import { profileOf } from '../shared/answer-words';
import { problemAttributes } from '../shared/field-problems';
import { Folded } from '../shared/folded';
import { hasExperts, hasLatentAttention } from '../shared/model-kind';
import { aboutOf, choiceHelp, choiceName, fieldHelp, fieldName, nameOf, wordsFor } from '../shared/names';
import { NumberField } from '../shared/number-field';
import { useWords } from '../shared/use-words';
import { BUDGET, DEGREES, SEARCH, type Value } from '../state/state';
import type { Actions, Page } from '../store/page';
import { say } from '../words/words';
import { chosenText } from './chosen';
import { CALIBRATED, GROUPS, groupOf, SITE_CONSTANTS } from './groups';
import type { LayoutProps } from './layout';

// Fields that have a place of their own: the sentence and the knobs.
const ELSEWHERE = new Set<string>(['gpus', 'sequence_length', 'global_batch', ...BUDGET, ...SEARCH, ...DEGREES]);

// How layers are shared out where every chunk is to have as many.
const EVEN_LAYERS = ['first_stage_layers', 'last_stage_layers', 'count_embedding_as_layer', 'count_loss_as_layer'];

interface FieldProps {
    page: Page;
    field: Field;
    act: Actions;
}

const currentOf = (page: Page, field: Field): Value => page.job[field.key] ?? field.default;

// What the plan shown has: the reader's value, or the one that was chosen.
const planValue = ({ job, answer }: Page, key: FieldKey): unknown => (job[key] === 'auto' ? answer?.job[key] : job[key]);

// Could this field, or this part of a set, change anything in the run as it is? Where that is not known, yes.
export function matters(page: Page): (key: string) => boolean {
    const { job, answer } = page;
    const config: Record<string, Json | undefined> | undefined = answer?.model.config;
    const value = (key: FieldKey): unknown => planValue(page, key);
    const experts = !config || hasExperts(config);
    const lora = job.trained === 'lora';
    const offloads = value('optimizer_offload') !== 0;
    const even = job.layout === undefined || job.layout === 'equal';
    const rules: Record<string, boolean> = {
        ...Object.fromEntries(SITE_CONSTANTS.map((key) => [key, job.site === 'own'])),
        ...Object.fromEntries(CALIBRATED.map((key) => [key, false])),
        ...Object.fromEntries(EVEN_LAYERS.map((key) => [key, even])),
        virtual_stage_group: value('virtual_stages') !== 1,
        token_slices: value('pipeline_parallel') !== 1,
        shard_replicas: value('zero') !== 'none',
        optimizer_offload_target: offloads,
        optimizer_offload_overlap: offloads,
        offload_master_weights: offloads,
        weights_offload: value('zero') === 'weights',
        nvme_gbyte_per_s: offloads && value('optimizer_offload_target') === 'nvme',
        host_memory_gib: offloads || value('activation_offload') !== 0 || value('weights_offload') === true,
        sequence_parallel: value('tensor_parallel') !== 1,
        context_parallel_kind: value('context_parallel') !== 1,
        tensor_overlap: value('tensor_parallel') !== 1,
        overlap_pipeline: value('pipeline_parallel') !== 1,
        recompute_modules: value('recompute') === 'selective',
        recompute_layers: value('recompute') === 'full' || value('recompute') === 'block',
        softmax_fusion: value('attention') === 'plain',
        expert_dispatch: experts && value('expert_parallel') !== 1,
        expert_overlap: experts && value('expert_parallel') !== 1,
        activation_fusion: experts || lora,
        lora_rank: lora,
        lora_targets: lora,
        lora_dropout: lora,
        frozen_weights: lora,
        moments: value('optimizer') !== 'adam_8bit',
        grouped_gemm: experts,
        moe_act: experts,
        moe: experts,
        shared_experts: experts,
        mla_up_proj: !config || hasLatentAttention(config),
    };
    const staged = value('pipeline_parallel') !== 1;
    return (key) => (groupOf(key) === 'pipeline' && !staged ? false : (rules[key] ?? (groupOf(key) !== 'experts' || experts)));
}

// A set is a few boxes to tick; its value is the ids of those that are, in the order of the choices.
function SetControl({ page, field, act }: FieldProps & { field: SetField }) {
    const { invalid, describedBy } = problemAttributes(page, field.key);
    const chosen = String(planValue(page, field.key) ?? field.default).split(',');
    const useful = matters(page);
    const shown = field.choices.filter((choice) => useful(choice.id) || chosen.includes(choice.id));
    const toggle = (id: string) => {
        const next = field.choices.filter((choice) => chosen.includes(choice.id) !== (choice.id === id));
        act.change({ [field.key]: next.map((choice) => choice.id).join(',') }, 'choose');
    };
    return (
        <fieldset>
            <legend>
                {fieldName(field)} <Reset page={page} field={field} act={act} />
            </legend>
            {shown.map((choice, i) => (
                <label key={choice.id} class="check">
                    <input
                        id={i === 0 ? `field-${field.key}` : undefined}
                        type="checkbox"
                        checked={chosen.includes(choice.id)}
                        aria-invalid={invalid}
                        aria-describedby={describedBy}
                        onChange={() => toggle(choice.id)}
                    />
                    <span>
                        {choiceName(field, choice)} <small>{choiceHelp(field, choice)}</small>
                    </span>
                </label>
            ))}
        </fieldset>
    );
}

interface ChoicesProps {
    id: string;
    value: Value;
    choices: readonly { id: string; name: string; help?: string }[];
    attributes: { 'aria-invalid': boolean; 'aria-describedby': string };
    set(id: string): void;
}

// A value that is none of the choices stands among them as it is.
function Choices({ id, value, choices, attributes, set }: ChoicesProps) {
    const written = String(value);
    return (
        <select id={id} value={written} {...attributes} onChange={(event) => set(event.currentTarget.value)}>
            {choices.every((choice) => choice.id !== written) && <option value={written}>{written}</option>}
            {choices.map((choice) => (
                <option key={choice.id} value={choice.id} selected={choice.id === written} title={choice.help}>
                    {choice.name}
                </option>
            ))}
        </select>
    );
}

// With "auto" as the first choice, where it is one; it tells what was chosen.
const offered = (page: Page, field: ChoiceField | BooleanField) => {
    const choices: ChoicesProps['choices'] =
        field.type === 'choice'
            ? field.choices.map((choice) => ({ id: choice.id, name: choiceName(field, choice), help: choiceHelp(field, choice) }))
            : [
                  { id: 'true', name: say('adjust.yes') },
                  { id: 'false', name: say('adjust.no') },
              ];
    return field.auto && choices.every(({ id }) => id !== 'auto') ? [{ id: 'auto', name: chosenText(page, field) }, ...choices] : choices;
};

function Control({ page, field, act }: FieldProps) {
    const { invalid, describedBy, wrong, kind } = problemAttributes(page, field.key);
    const value = currentOf(page, field);
    const id = `field-${field.key}`;
    const described = [`${id}-help`, describedBy].filter(Boolean).join(' ');
    const attributes = { 'aria-invalid': invalid, 'aria-describedby': described };
    const set = (next: Value) => act.change({ [field.key]: next }, 'choose');
    if (field.type === 'boolean' && !field.auto) {
        return (
            <input
                id={id}
                type="checkbox"
                checked={value === true}
                {...attributes}
                onChange={(event) => set(event.currentTarget.checked)}
            />
        );
    }
    if (field.type === 'choice' || field.type === 'boolean') {
        const read = (text: string): Value => (field.type === 'boolean' && text !== 'auto' ? text === 'true' : text);
        return <Choices id={id} value={value} choices={offered(page, field)} attributes={attributes} set={(text) => set(read(text))} />;
    }
    const auto = field.type === 'integer' && field.auto === true;
    return (
        <NumberField
            id={id}
            label={fieldName(field)}
            value={value}
            auto={auto}
            {...(field.type === 'number' && { decimals: field })}
            placeholder={auto ? chosenText(page, field) : say('adjust.auto')}
            kind={kind}
            wrong={wrong}
            invalid={invalid}
            describedBy={described}
            onChange={(next, how) => act.change({ [field.key]: next }, how)}
        />
    );
}

function helpFor(field: Field, value: Value): string {
    const choice = field.type === 'choice' && field.choices.find(({ id }) => id === value);
    return (choice && choiceHelp(field, choice)) || fieldHelp(field);
}

// Back to what the search chooses.
function Reset({ page, field, act }: FieldProps) {
    if (!field.auto || currentOf(page, field) === 'auto' || field.default !== 'auto') return null;
    return (
        <button
            type="button"
            class="link"
            aria-label={say('adjust.back_to_auto', { label: fieldName(field) })}
            onClick={() => act.change({ [field.key]: 'auto' }, 'choose')}
        >
            {say('adjust.reset')}
        </button>
    );
}

interface Slot {
    Layout: FunctionComponent<LayoutProps>;
}

function OptionField({ page, field, act, Layout }: FieldProps & Slot) {
    if (field.type === 'set') {
        return (
            <div class="field set">
                <SetControl page={page} field={field} act={act} />
            </div>
        );
    }
    if (field.type === 'text') return <Layout page={page} field={field} act={act} />;
    return (
        <div class={`field ${field.type}`}>
            <span>
                <label for={`field-${field.key}`}>{fieldName(field)}</label> <Reset page={page} field={field} act={act} />
            </span>
            <Control page={page} field={field} act={act} />
            <p id={`field-${field.key}-help`} class="note">
                {helpFor(field, currentOf(page, field))}
            </p>
        </div>
    );
}

function ClusterField({ page, act }: { page: Page; act: Actions }) {
    const { clusters } = page.catalog;
    const { cluster } = page.job;
    const gpu = profileOf(page);
    const matching = clusters.filter((one) => one.gpu === gpu?.id || one.id === cluster);
    const { invalid, describedBy } = problemAttributes(page, 'cluster');
    if (matching.length === 0 && cluster === '') return null;
    return (
        <div class="field choice">
            <label for="field-cluster">{say('adjust.cluster')}</label>
            <select
                id="field-cluster"
                value={String(cluster)}
                aria-invalid={invalid}
                aria-describedby={`field-cluster-help ${describedBy ?? ''}`.trim()}
                onChange={(event) => act.change({ cluster: event.currentTarget.value }, 'choose')}
            >
                <option value="">{say('adjust.no_cluster')}</option>
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
                {say('adjust.cluster_help')}
            </p>
        </div>
    );
}

// How the memory is counted: each way with what it says of itself, and what it is known to leave out.
export function MethodChoice({ page, answer, act }: { page: Page; answer: Estimate | null; act: Actions }) {
    const { methods } = page.catalog;
    const { invalid, describedBy } = problemAttributes(page, 'method');
    const chosen = methods.find((method) => method.id === page.job.method);
    const other = answer?.comparison;
    return (
        <fieldset class="method" role="radiogroup" aria-invalid={invalid} aria-describedby={describedBy}>
            <legend>{say('counting.title')}</legend>
            {methods.map((method, i) => (
                <label key={method.id} class="check">
                    <input
                        id={i === 0 ? 'field-method' : undefined}
                        type="radio"
                        name="method"
                        value={method.id}
                        checked={method === chosen}
                        onChange={() => act.change({ method: method.id }, 'choose')}
                    />
                    <span>
                        {nameOf('method', method)}{' '}
                        {method.id === other?.method && (
                            <small>{say('counting.other', { used: other.whole_bytes, fit: say(`fit.${other.class}`) })}</small>
                        )}
                    </span>
                </label>
            ))}
            {chosen && (
                <>
                    <p class="note">{aboutOf('method', chosen)}</p>
                    <Folded title={say('counting.limits')}>
                        <ul class="limits">
                            {chosen.limits.map((limit) => (
                                <li key={wordsFor('limit', limit)}>{wordsFor('limit', limit)}</li>
                            ))}
                        </ul>
                    </Folded>
                </>
            )}
        </fieldset>
    );
}

export function Options({ page, act, Layout }: { page: Page; act: Actions } & Slot) {
    useWords('help');
    const useful = matters(page);
    const changed = (field: Field): boolean => currentOf(page, field) !== field.default;
    const wrong = (key: string): boolean => problemAttributes(page, key).invalid;
    const fields = page.catalog.fields.filter(
        (field) => !ELSEWHERE.has(field.key) && (useful(field.key) || changed(field) || wrong(field.key)),
    );
    return (
        <div class="settings">
            <h3>{say('adjust.more')}</h3>
            {GROUPS.map(([id]) => {
                const inside = fields.filter((field) => groupOf(field.key) === id);
                const cluster = id === 'cluster';
                if (inside.length === 0) return null;
                const count = inside.filter(changed).length + (cluster && page.job.cluster !== '' ? 1 : 0);
                const problem = inside.some((field) => wrong(field.key)) || (cluster && wrong('cluster'));
                return (
                    <Folded
                        key={id}
                        title={say(`options.${id}`)}
                        mark={problem ? say('adjust.wrong') : count > 0 && say('adjust.changed', { count })}
                    >
                        {cluster && <ClusterField page={page} act={act} />}
                        {inside.map((field) => (
                            <OptionField key={field.key} page={page} field={field} act={act} Layout={Layout} />
                        ))}
                        {cluster && <p class="note">{say('adjust.links_help')}</p>}
                    </Folded>
                );
            })}
        </div>
    );
}
