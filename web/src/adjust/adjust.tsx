import type { FunctionComponent } from 'preact';
import { useState } from 'preact/hooks';
import type { Alternatives, Degree, Estimate, IntegerField, KnobOption } from '../core/api';
import { format } from '../format/format';
import { isEqual, stepChange } from '../shared/answer-words';
import { problemAttributes } from '../shared/field-problems';
import { fieldHelp, fieldName, messageOf } from '../shared/names';
import { NumberField } from '../shared/number-field';
import { wholePlan } from '../shared/plan-words';
import { Room } from '../shared/room';
import { chosenKeys, DEGREES } from '../state/state';
import type { Actions, Page } from '../store/page';
import { planAt, rows } from '../store/ranked';
import { say } from '../words/words';
import type { LayoutProps } from './layout';
import { MethodChoice, Options } from './options';

interface OptionProps {
    field: IntegerField;
    option: KnobOption;
    current: boolean;
    answer: Estimate | null; // of the plan shown
    choose(): void;
    explain(reason: string | null): void;
}

// A neighbour of the current value. One that breaks a rule can be reached but not taken, and says which rule.
function Option({ field, option, current, answer, choose, explain }: OptionProps) {
    const reason = option.problem ? messageOf(option.problem) : null;
    const legal = option.legal ? option : null;
    const fit = say(`fit.${legal?.class ?? 'fits'}`);
    const change = say('adjust.change', { change: format.change(legal?.change_bytes ?? 0) });
    const effect = !legal ? say('adjust.not_possible') : current ? fit : change;
    const { time, equally_good } = answer ?? {};
    const seconds = current ? undefined : legal?.step_seconds;
    const compared = seconds === undefined || !time ? null : ([seconds, time.step_seconds, equally_good?.width ?? 0] as const);
    const slower = compared && (isEqual(...compared) ? say('plan.equal') : format.slower(compared[0], compared[1]));
    const told = { label: fieldName(field), value: option.value, effect, more: reason ?? (current ? say('adjust.now') : fit) };
    const spoken = compared ? say('adjust.option_step', { ...told, step: stepChange(...compared) }) : say('adjust.option', told);
    return (
        <button
            type="button"
            class={`option ${legal?.class ?? 'illegal'}`}
            aria-pressed={current}
            aria-disabled={!legal}
            aria-label={spoken}
            onClick={() => (legal ? choose() : explain(reason))}
            onMouseEnter={() => explain(reason)}
            onMouseLeave={() => explain(null)}
            onFocus={() => explain(reason)}
            onBlur={() => explain(null)}
        >
            <b>{format.count(option.value)}</b> <small>{effect}</small> {slower && <small>{slower}</small>}
        </button>
    );
}

interface KnobProps {
    page: Page;
    answer: Estimate | null;
    field: IntegerField;
    act: Actions;
}

function KnobField({ page, answer, field, act }: KnobProps) {
    const [reason, explain] = useState<string | null>(null);
    const key = field.key as Degree;
    const knob = page.alternatives?.knobs.find((one) => one.field === key);
    const value = page.job[key] ?? 'auto';
    const auto = value === 'auto';
    const chosen = answer ? Number(answer.job[key]) : null;
    const help = chosen === null ? fieldHelp(field) : say(`adjust.help.${key}`, { count: chosen });
    return (
        // biome-ignore lint/a11y/useSemanticElements: the legend of a fieldset cannot share a line with another element
        <div class="knob" role="group" aria-labelledby={`knob-${key}`}>
            <div class="head">
                <h3 id={`knob-${key}`}>{fieldName(field)}</h3>
                {!auto && (
                    <button
                        type="button"
                        class="link"
                        aria-label={say('adjust.back_to_auto', { label: fieldName(field) })}
                        onClick={() => act.change({ [key]: 'auto' }, 'choose')}
                    >
                        {say('adjust.reset')}
                    </button>
                )}
                <NumberField
                    id={`field-${key}`}
                    label={say('adjust.own_value', { label: fieldName(field) })}
                    value={value}
                    auto
                    placeholder={chosen === null ? say('adjust.auto') : say('adjust.chosen', { value: format.count(chosen) })}
                    {...problemAttributes(page, key)}
                    onChange={(next, how) => act.change({ [key]: next }, how)}
                />
            </div>
            <p class="note">{help}</p>
            {knob && (
                <div class={`options of-${knob.options.length}${page.alternativesStale ? ' stale' : ''}`}>
                    {knob.options.map((option) => (
                        <Option
                            key={option.value}
                            field={field}
                            option={option}
                            current={option.value === chosen}
                            answer={answer}
                            choose={() => act.change({ [key]: option.value }, 'choose')}
                            explain={explain}
                        />
                    ))}
                </div>
            )}
            <p class="reason" role="status" hidden={reason === null}>
                {reason}
            </p>
        </div>
    );
}

function DataParallel({ answer }: { answer: Estimate }) {
    const { job } = answer;
    const [gpus, tensor, columns, cp, pp] = [
        job.gpus,
        job.tensor_parallel,
        job.tensor_columns,
        job.context_parallel,
        job.pipeline_parallel,
    ].map((value) => Number(value)) as [number, number, number, number, number];
    const tp = tensor * columns;
    return (
        <div class="data">
            <h3>
                {say('adjust.data')} <small>{say('adjust.data_help')}</small>
            </h3>
            <p>{say('adjust.data_is', { gpus, tp, cp, pp, dp: answer.data_parallel })}</p>
            <p class="note">{say('adjust.micro_batches', { count: answer.micro_batches })}</p>
        </div>
    );
}

// Back to what the search would choose, when the plan shown is another one.
function Suggested({ page, best, act }: { page: Page; best: Alternatives['auto_plan']; act: Actions }) {
    // The machine is the reader's: only what a search can choose goes back to it.
    const keys = chosenKeys(page.catalog).filter((key) => best?.set[key] === 'auto');
    if (!best || keys.length === 0) return null;
    // The first plan of the list is what the search chooses when nothing is set; the list may still be on its way.
    const { ranked, stale, only } = page.ranking;
    const first = ranked && !stale && Object.keys(only).length === 0 && rows(ranked) > 0 ? planAt(ranked, 0) : null;
    return (
        <p>
            <button
                type="button"
                class="chip best"
                onClick={() => act.change(Object.fromEntries(keys.map((key) => [key, 'auto'])), 'choose')}
            >
                {say('adjust.best', {
                    plan: first?.whole_bytes === best.whole_bytes ? wholePlan(page.catalog, first) : say('adjust.all_auto'),
                    used: best.whole_bytes,
                    fit: say(`fit.${best.class}`),
                    time: best.step_seconds,
                })}
            </button>
        </p>
    );
}

interface Props {
    page: Page;
    answer: Estimate | null;
    act: Actions;
    Layout: FunctionComponent<LayoutProps>;
}

export function Adjust({ page, answer, act, Layout }: Props) {
    const { alternatives, alternativesStale } = page;
    return (
        <Room id="adjust" class="adjust" title={say('adjust.title')} aside>
            <MethodChoice page={page} answer={answer} act={act} />
            <p class="note">{alternatives && alternativesStale ? say('adjust.stale') : say('adjust.intro')}</p>
            {answer && <Suggested page={page} best={alternatives?.auto_plan ?? null} act={act} />}
            {DEGREES.map((key) => {
                const field = page.catalog.fields.find((one) => one.key === key);
                if (field?.type !== 'integer') return null;
                return <KnobField key={key} page={page} answer={answer} field={field} act={act} />;
            })}
            {answer && <DataParallel answer={answer} />}
            <Options page={page} act={act} Layout={Layout} />
        </Room>
    );
}
