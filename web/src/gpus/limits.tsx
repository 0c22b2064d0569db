import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Limits as Answer, Brief, Catalog, InTime, Largest, ModelHere, WholePlan } from '../core/api';
import { format } from '../format/format';
import { moneyOf } from '../shared/answer-words';
import { problemAttributes } from '../shared/field-problems';
import { messageOf } from '../shared/names';
import { NumberField } from '../shared/number-field';
import { wholePlan } from '../shared/plan-words';
import { Room } from '../shared/room';
import { readValue, useLinked, writeValue } from '../shared/use-linked';
import { Words } from '../shared/words';
import { baseOf, type Job, type Value } from '../state/state';
import { LIMITS_PARAMETER } from '../state/view';
import type { Actions, Page } from '../store/page';
import { say, sentences, tell } from '../words/words';
import { inDays } from './in-days';

// The questions the other way round: each answer is a button that takes it.
interface TakeProps {
    act: Actions;
    values: Job;
    children: string;
}

function Take({ act, values, children }: TakeProps) {
    const take = () => {
        act.change(values, 'choose');
        document.getElementById('answer')?.scrollIntoView({ block: 'center' });
    };
    return (
        <button type="button" class="link" aria-label={say('limits.take', { what: children })} onClick={take}>
            {children}
        </button>
    );
}

const planText = (catalog: Catalog, plan: WholePlan, brief: Brief): string =>
    say('limits.plan', { plan: wholePlan(catalog, plan, plan.data_parallel), memory: brief.whole_bytes, time: brief.step_seconds });

const Found = ({ notes, children }: { notes: readonly string[]; children: ComponentChildren }) => (
    <li>
        <p>{children}</p>
        {notes.map((note) => note && <p class="note">{note}</p>)}
    </li>
);

const TakeGpus = ({ act, gpus }: { act: Actions; gpus: number }) => (
    <Take act={act} values={{ gpus }}>
        {say('limits.gpus', { count: gpus })}
    </Take>
);

function Fewest({ page, limits, act }: { page: Page; limits: Answer; act: Actions }) {
    const { fewest_gpus: found, searched } = limits;
    if (!found) return <Found notes={[]}>{say('limits.fewest_none', { most: searched.to_gpus })}</Found>;
    return (
        <Found notes={[planText(page.catalog, found.plan, found)]}>
            <Words id="limits.fewest" slots={{ gpus: <TakeGpus act={act} gpus={found.gpus} /> }} />
        </Found>
    );
}

function runText(found: InTime, job: Job): string {
    const [days, low, high] = format.training(found.days, found.low_days, found.high_days);
    const run = { days, low, high, hours: format.rounded(found.gpu_hours) };
    return found.cost === null ? say('limits.run', run) : say('limits.run_cost', { ...run, cost: moneyOf(job, found.cost) });
}

// The fewest GPUs by the estimate, and by the upper end of its range.
function AtLeast({ found: { gpus, safe_gpus: safe }, act }: { found: InTime; act: Actions }) {
    const least = <TakeGpus act={act} gpus={gpus} />;
    if (safe === gpus) return <Words id="limits.at_least" slots={{ gpus: least }} />;
    if (safe === null) return <Words id="limits.at_least_unsafe" slots={{ gpus: least }} />;
    return <Words id="limits.at_least_safe" slots={{ gpus: least, safe: <TakeGpus act={act} gpus={safe} /> }} />;
}

// They stand in the link.
function DaysField({ wrong, act }: { wrong: boolean; act: Actions }) {
    const [days, link] = useLinked<Value>(LIMITS_PARAMETER, (text) => readValue(text ?? '30'), writeValue);
    useEffect(() => act.setDays(days), [days]);
    return (
        <NumberField
            id="limits-days"
            label={say('limits.days_label')}
            value={days}
            kind={{ whole: true, unit: 'days' }}
            apart={inDays}
            describedBy={wrong ? 'limits-days-problem' : undefined}
            invalid={wrong}
            onChange={(next) => link(next, 'days')}
        />
    );
}

function FewestInTime({ page, limits, act }: { page: Page; limits: Answer; act: Actions }) {
    const { fewest_in_time: found, searched } = limits;
    const tokens = page.job.token_budget ?? 0;
    const [problem] = page.limitsProblems;
    const { wrong, ...attributes } = problemAttributes(page, 'token_budget');
    const asked = tokens === 'auto' || (typeof tokens === 'number' && tokens > 0);
    const usual = page.answer?.time.run?.tokens;
    const counted = limits.job.token_budget === tokens && limits.days === page.days;
    const budget = (
        <NumberField
            id="limits-tokens"
            label={say('limits.tokens_label')}
            value={tokens}
            auto
            none
            placeholder={usual ? format.short(usual) : say('budget.none')}
            {...attributes}
            onChange={(next, how) => act.change({ token_budget: next }, how)}
        />
    );
    const days = <DaysField wrong={problem !== undefined} act={act} />;
    const answer = (): ComponentChildren => {
        if (problem || wrong) return null;
        if (!asked) return say('limits.no_tokens');
        if (!counted) return say('limits.counting');
        return found ? <AtLeast found={found} act={act} /> : say('limits.in_time_none', { most: searched.to_gpus });
    };
    const words = typeof tokens === 'number' && tokens >= 1e6 && `(${format.short(tokens)})`;
    return (
        <li class="in-time">
            <p>
                <Words id="limits.in_time" slots={{ tokens: budget, words, days, answer: answer() }} />
            </p>
            {wrong && (
                <p class="wrong" aria-hidden="true">
                    {wrong}
                </p>
            )}
            {problem && (
                <p id="limits-days-problem" class="wrong">
                    {messageOf(problem)}
                </p>
            )}
            {!problem && asked && counted && found && (
                <>
                    <p class="note">{runText(found, page.job)}</p>
                    <p class="note">{planText(page.catalog, found.plan, found)}</p>
                </>
            )}
        </li>
    );
}

interface SizeProps {
    page: Page;
    found: Largest | null;
    field: string;
    sentence: 'limits.sequence' | 'limits.micro_batch' | 'limits.batch';
    none: string;
    endless?: string; // where the end of the field is no answer worth taking
    text(value: number, more: boolean): string; // more: the field ends before the memory does
    act: Actions;
}

function LargestSize({ page, found, field, sentence, none, endless, text, act }: SizeProps) {
    if (!found) return <Found notes={[]}>{none}</Found>;
    if (endless && found.limited_by === 'range') return <Found notes={found.notes.map(tell)}>{endless}</Found>;
    const answer = (
        <Take act={act} values={{ [field]: found.value }}>
            {text(found.value, found.limited_by === 'range')}
        </Take>
    );
    return (
        <Found notes={[planText(page.catalog, found.plan, found), ...found.notes.map(tell)]}>
            <Words id={sentence} args={{ gpus: Number(page.limits?.job.gpus) }} slots={{ answer }} />
        </Found>
    );
}

function ModelRow({ catalog, model, act }: { catalog: Catalog; model: ModelHere; act: Actions }) {
    return (
        <tr>
            <th scope="row">
                <Take act={act} values={{ model: model.id }}>
                    {model.label}
                </Take>
            </th>
            <td class="r extra">{format.short(model.parameters)}</td>
            {model.plan ? (
                <>
                    <td class={`fit ${model.class}`}>{say(`fit.${model.class}`)}</td>
                    <td class="r">{format.gb(model.whole_bytes)}</td>
                    <td class="r">{format.duration(model.step_seconds)}</td>
                    <td class="extra split">{wholePlan(catalog, model.plan, model.plan.data_parallel)}</td>
                </>
            ) : (
                <td class="fit" colSpan={4}>
                    {say('limits.impossible')}
                </td>
            )}
        </tr>
    );
}

function Models({ page, limits, act }: { page: Page; limits: Answer; act: Actions }) {
    const { models } = limits;
    const [gpus, count] = [Number(limits.job.gpus), models.length];
    const largest = models.find((model) => model.fits);
    const take = ({ id, label }: ModelHere) => (
        <Take act={act} values={{ model: id }}>
            {label}
        </Take>
    );
    const { gpu } = limits.job;
    const own = typeof gpu === 'object' && typeof gpu.memory_gib === 'number' ? gpu.memory_gib : undefined;
    const card = own ?? page.catalog.gpus.find(({ id }) => id === baseOf(gpu))?.memory_gib ?? 0;
    return (
        <li>
            <p>
                {largest ? (
                    <Words id="limits.model" args={{ gpus, count }} slots={{ answer: take(largest) }} />
                ) : (
                    say('limits.model_none', { gpus, count })
                )}
            </p>
            <details>
                <summary>{say('limits.models', { count })}</summary>
                <table aria-label={say('limits.models_table')}>
                    <thead>
                        <tr>
                            <th scope="col">{say('limits.model_head')}</th>
                            <th scope="col" class="r extra">
                                {say('limits.parameters')}
                            </th>
                            <th scope="col" class="fit">
                                {say('limits.verdict')}
                            </th>
                            <th scope="col" class="r">
                                {say('limits.memory', { card: format.nominal(card) })}
                            </th>
                            <th scope="col" class="r">
                                {say('sweep.time')}
                            </th>
                            <th scope="col" class="extra split">
                                {say('map.split_head')}
                            </th>
                        </tr>
                    </thead>
                    <tbody>
                        {models.map((model) => (
                            <ModelRow key={model.id} catalog={page.catalog} model={model} act={act} />
                        ))}
                    </tbody>
                </table>
            </details>
        </li>
    );
}

function Answers({ page, limits, act }: { page: Page; limits: Answer; act: Actions }) {
    const gpus = Number(limits.job.gpus);
    const sequences = (value: number): string => say('limits.sequences', { count: value });
    const { notes } = limits.searched;
    const said = (ofSet: boolean): string => sentences(...notes.filter(({ id }) => (id === 'searched.kept') === ofSet).map(tell));
    const kept = said(true); // before what it narrows: else the list of plans seems to say otherwise
    return (
        <>
            {kept && <p class="note">{kept}</p>}
            <ul>
                <Fewest page={page} limits={limits} act={act} />
                <FewestInTime page={page} limits={limits} act={act} />
                <LargestSize
                    page={page}
                    found={limits.largest_sequence}
                    field="sequence_length"
                    sentence="limits.sequence"
                    none={say('limits.sequence_none', { gpus })}
                    text={(tokens, more) => say('limits.sequence_value', { tokens, more })}
                    act={act}
                />
                <LargestSize
                    page={page}
                    found={limits.largest_micro_batch}
                    field="micro_batch"
                    sentence="limits.micro_batch"
                    none={say('limits.micro_batch_none', { gpus })}
                    text={sequences}
                    act={act}
                />
                <LargestSize
                    page={page}
                    found={limits.largest_batch}
                    field="global_batch"
                    sentence="limits.batch"
                    none={say('limits.batch_none', { gpus })}
                    endless={say('limits.batch_endless')}
                    text={sequences}
                    act={act}
                />
                <Models page={page} limits={limits} act={act} />
            </ul>
            <p class="note">{said(false)}</p>
        </>
    );
}

export function Limits({ page, act }: { page: Page; act: Actions }) {
    useEffect(() => act.wantLimits(), []);
    const { limits, limitsStale, limitsProblems, problems } = page;
    const old = limitsStale || page.heatStale;
    const counting = limitsStale && limitsProblems.length + problems.length === 0;
    return (
        <Room
            id="limits"
            class={limits && old ? 'plans reach stale' : 'plans reach'}
            title={
                <>
                    {say('section.limits')} {counting && <small>{say('limits.counting')}</small>}
                </>
            }
        >
            {limits && <Answers page={page} limits={limits} act={act} />}
        </Room>
    );
}
