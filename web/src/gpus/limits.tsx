import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Limits as Answer, Brief, Catalog, InTime, Largest, ModelHere, WholePlan } from '../core/api';
import { format } from '../format/format';
import { m } from '../i18n/more';
import { NumberField } from '../shared/number-field';
import { wholePlan } from '../shared/sentences';
import type { Value } from '../state/state';
import type { Actions, Page } from '../store/page';

// The questions the other way round: each answer is a button that takes it.
interface TakeProps {
    act: Actions;
    values: Record<string, Value>;
    children: string;
}

function Take({ act, values, children }: TakeProps) {
    const take = () => {
        act.change(values, 'choose');
        document.getElementById('answer')?.scrollIntoView({ block: 'center' });
    };
    return (
        <button type="button" class="link" aria-label={m.limits.take(children)} onClick={take}>
            {children}
        </button>
    );
}

const planText = (catalog: Catalog, plan: WholePlan, brief: Brief): string =>
    `${wholePlan(catalog, plan, plan.data_parallel)}; ${format.gb(brief.total_bytes)}\u00a0GB, ${format.duration(brief.step_seconds)} a step`;

const Found = ({ notes, children }: { notes: (string | null)[]; children: ComponentChildren }) => (
    <li>
        <p>{children}</p>
        {notes.map((note) => note && <p class="note">{note}</p>)}
    </li>
);

function Fewest({ page, limits, act }: { page: Page; limits: Answer; act: Actions }) {
    const { fewest_gpus: found, searched } = limits;
    if (!found) return <Found notes={[]}>{m.limits.fewestNone(format.count(searched.to_gpus))}</Found>;
    return (
        <Found notes={[planText(page.catalog, found.plan, found)]}>
            {m.limits.fewest}{' '}
            <Take act={act} values={{ gpus: found.gpus }}>
                {m.limits.gpus(format.count(found.gpus))}
            </Take>
        </Found>
    );
}

function runText(found: InTime): string {
    const [days, low, high] = format.training(found.days, found.low_days, found.high_days);
    const cost = found.cost === null ? '' : m.limits.cost(format.rounded(found.cost));
    return `${m.limits.run(days, low, high, format.rounded(found.gpu_hours))}${cost}`;
}

function Safe({ found, act }: { found: InTime; act: Actions }) {
    const { gpus, safe_gpus: safe } = found;
    if (safe === gpus) return m.limits.safeToo;
    if (safe === null) return m.limits.safeNone;
    const [before, after] = m.limits.safe;
    return (
        <>
            {before}
            <Take act={act} values={{ gpus: safe }}>
                {m.limits.gpus(format.count(safe))}
            </Take>
            {after}
        </>
    );
}

function FewestInTime({ page, limits, act }: { page: Page; limits: Answer; act: Actions }) {
    const { fewest_in_time: found, searched } = limits;
    const tokens = page.job.token_budget ?? 0;
    const [problem] = page.limitsProblems;
    const asked = typeof tokens === 'number' && tokens > 0;
    const counted = limits.job.token_budget === tokens && limits.days === page.days;
    return (
        <li class="in-time">
            <p>
                <NumberField
                    id="limits-tokens"
                    label={m.limits.tokensLabel}
                    value={tokens}
                    amount
                    placeholder={m.budget.none}
                    invalid={page.problems.some(({ field }) => field === 'token_budget')}
                    onChange={(next, how) => act.change({ token_budget: next }, how)}
                />{' '}
                {asked && tokens >= 1e6 && `(${format.short(tokens)}) `}
                {m.limits.tokensIn}{' '}
                <NumberField
                    id="limits-days"
                    label={m.limits.daysLabel}
                    value={page.days}
                    describedBy={problem && 'limits-days-problem'}
                    invalid={problem !== undefined}
                    onChange={(next) => act.setDays(next)}
                />{' '}
                {m.limits.days}{' '}
                {problem ? null : !asked ? (
                    m.limits.noTokens
                ) : !counted ? (
                    m.limits.counting
                ) : found ? (
                    <>
                        {m.limits.atLeast}{' '}
                        <Take act={act} values={{ gpus: found.gpus }}>
                            {m.limits.gpus(format.count(found.gpus))}
                        </Take>
                        <Safe found={found} act={act} />
                    </>
                ) : (
                    m.limits.inTimeNone(format.count(searched.to_gpus))
                )}
            </p>
            {problem && (
                <p id="limits-days-problem" class="wrong">
                    {problem.message}
                </p>
            )}
            {!problem && asked && counted && found && (
                <>
                    <p class="note">{runText(found)}</p>
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
    before: string;
    none: string;
    endless?: string; // where the end of the field is no answer worth taking
    text(value: number): string;
    act: Actions;
}

function LargestSize({ page, found, field, before, none, endless, text, act }: SizeProps) {
    if (!found) return <Found notes={[]}>{none}</Found>;
    if (endless && found.limited_by === 'range') return <Found notes={[found.note]}>{endless}</Found>;
    return (
        <Found notes={[planText(page.catalog, found.plan, found), found.note]}>
            {before}{' '}
            <Take act={act} values={{ [field]: found.value }}>
                {text(found.value)}
            </Take>
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
                    <td class={`fit ${model.class}`}>{m.heat.legend[model.class]}</td>
                    <td class="r">{format.gb(model.total_bytes)}</td>
                    <td class="r">{format.duration(model.step_seconds)}</td>
                    <td class="extra split">{wholePlan(catalog, model.plan, model.plan.data_parallel)}</td>
                </>
            ) : (
                <td class="fit" colSpan={4}>
                    {m.limits.impossible}
                </td>
            )}
        </tr>
    );
}

function Models({ page, limits, act }: { page: Page; limits: Answer; act: Actions }) {
    const { models } = limits;
    const gpus = format.count(Number(limits.job.gpus));
    const largest = models.find((model) => model.fits);
    const card = page.catalog.gpus.find(({ id }) => id === limits.job.gpu)?.memory_gib ?? 0;
    return (
        <li>
            <p>
                {largest ? (
                    <>
                        {m.limits.model(gpus)}{' '}
                        <Take act={act} values={{ model: largest.id }}>
                            {largest.label}
                        </Take>
                    </>
                ) : (
                    m.limits.modelNone(gpus)
                )}
            </p>
            <details>
                <summary>{m.limits.models(format.count(models.length))}</summary>
                <table aria-label={m.limits.modelsTable}>
                    <thead>
                        <tr>
                            <th scope="col">{m.limits.modelHead}</th>
                            <th scope="col" class="r extra">
                                {m.limits.parameters}
                            </th>
                            <th scope="col" class="fit">
                                {m.limits.verdict}
                            </th>
                            <th scope="col" class="r">
                                {m.limits.memory(format.nominal(card))}
                            </th>
                            <th scope="col" class="r">
                                {m.sweep.time}
                            </th>
                            <th scope="col" class="extra split">
                                {m.heat.splitHead}
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
    const gpus = format.count(Number(limits.job.gpus));
    const sequences = (value: number): string => m.limits.sequences(value, format.count(value));
    return (
        <>
            <ul>
                <Fewest page={page} limits={limits} act={act} />
                <FewestInTime page={page} limits={limits} act={act} />
                <LargestSize
                    page={page}
                    found={limits.largest_sequence}
                    field="sequence_length"
                    before={m.limits.sequence(gpus)}
                    none={m.limits.sequenceNone(gpus)}
                    text={(value) => m.limits.sequenceValue(format.count(value))}
                    act={act}
                />
                <LargestSize
                    page={page}
                    found={limits.largest_micro_batch}
                    field="micro_batch"
                    before={m.limits.microBatch}
                    none={m.limits.microBatchNone(gpus)}
                    text={sequences}
                    act={act}
                />
                <LargestSize
                    page={page}
                    found={limits.largest_batch}
                    field="global_batch"
                    before={m.limits.batch}
                    none={m.limits.batchNone(gpus)}
                    endless={m.limits.batchEndless}
                    text={sequences}
                    act={act}
                />
                <Models page={page} limits={limits} act={act} />
            </ul>
            <p class="note">{limits.searched.note}</p>
        </>
    );
}

export function Limits({ page, act }: { page: Page; act: Actions }) {
    useEffect(() => act.wantLimits(), []);
    const { limits, limitsStale } = page;
    const old = limitsStale || page.heatStale;
    return (
        <section id="limits" class={limits && old ? 'plans reach stale' : 'plans reach'} aria-labelledby="limits-title">
            <h2 id="limits-title">
                {m.limits.title} {limitsStale && page.limitsProblems.length === 0 && <small>{m.limits.counting}</small>}
            </h2>
            {limits && <Answers page={page} limits={limits} act={act} />}
        </section>
    );
}
