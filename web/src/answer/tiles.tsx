import type { ComponentChildren } from 'preact';
import type { Estimate, FieldKey, Run } from '../core/api';
import { format } from '../format/format';
import { moneyOf, profileOf } from '../shared/answer-words';
import { FIELDS_OF, type FieldsOf, problemAttributes } from '../shared/field-problems';
import { fieldHelp, fieldName } from '../shared/names';
import { NumberField } from '../shared/number-field';
import { settledOn } from '../shared/settled';
import { Words } from '../shared/words';
import { BUDGET } from '../state/state';
import type { Actions } from '../store/page';
import { say, sentences } from '../words/words';

interface Props {
    page: FieldsOf;
    answer: Estimate;
    act: Actions;
}

const IN_TILES: readonly FieldKey[] = BUDGET.filter((key) => key !== 'token_budget'); // which stands in the sentence

// A number of the budget that is changed where it stands. Left empty it is the usual one, which the field shows.
function Inline({ page, act, name, usual }: Omit<Props, 'answer'> & { name: FieldKey; usual: string }) {
    const field = page.catalog.fields.find(({ key }) => key === name);
    if (field?.type !== 'number') return null;
    return (
        <NumberField
            id={`field-${name}`}
            label={`${fieldName(field)}. ${fieldHelp(field)}`}
            value={page.job[name] ?? 'auto'}
            auto={field.auto === true}
            {...(name === 'token_budget' ? { none: true } : { decimals: field })}
            placeholder={usual}
            {...problemAttributes(page, name)}
            onChange={(next, how) => act.change({ [name]: next }, how)}
        />
    );
}

export const TokenBudget = ({ page, act }: { page: FieldsOf; act: Actions }) => (
    <Inline
        page={page}
        act={act}
        name="token_budget"
        usual={
            page.job.token_budget === 0
                ? say('budget.ask')
                : page.answer?.time.run
                  ? format.short(page.answer.time.run.tokens)
                  : say('budget.usual')
        }
    />
);

function Tile({ name, main, children }: { name: string; main: string; children: ComponentChildren }) {
    return (
        <div>
            <dt>{name}</dt>
            <dd>
                <b>{main}</b> <small>{children}</small>
            </dd>
        </div>
    );
}

// What does not fit only would take so long.
const wouldOf = (answer: Estimate): boolean => answer.class === 'does_not_fit';

function Takes({ answer, run }: { answer: Estimate; run: Run | null }) {
    const { step_seconds: step } = answer.time;
    const name = say('tiles.takes', { would: wouldOf(answer) });
    if (!run) {
        return (
            <Tile name={name} main={say('tiles.a_step', { time: step })}>
                {sentences(
                    say('tiles.band', {
                        low: format.duration(answer.time.low_seconds),
                        high: format.duration(answer.time.high_seconds),
                    }),
                    say('tiles.no_tokens'),
                )}
            </Tile>
        );
    }
    const [main, low, , high] = format.training(run.days, run.low_days, run.high_days);
    return (
        <Tile name={name} main={main}>
            {sentences(say('tiles.band', { low, high }), say('tiles.steps', { count: run.steps, time: step }))}
        </Tile>
    );
}

// A price of the catalogue has a source and a date, and belongs to the GPU that it names where the run has another, of the reader's own; a
// price of the reader's own has any currency.
function Basis({ page, listed }: { page: FieldsOf; listed: boolean }) {
    const gpu = profileOf(page);
    const own = (page.job['gpu.usd_per_gpu_hour'] ?? 'auto') !== 'auto';
    if (!listed) return <span>{say('tiles.own_price')}</span>;
    if (own || !gpu?.price_date) return null;
    const source = gpu.sources.find(({ fields }) => fields.includes('usd_per_gpu_hour'));
    const date = format.month(gpu.price_date);
    const text = say(gpu.price_assumed ? 'tiles.assumed_price' : 'tiles.list_price', {
        date: gpu.id === page.job.gpu ? date : `${date} (${gpu.label})`,
    });
    return source ? <a href={source.url}>{text}</a> : <span>{text}</span>;
}

function Costs({ page, answer, act, run }: Props & { run: Run }) {
    const listed = page.job.price_per_gpu_hour === 'auto';
    const { cost, price_per_gpu_hour: price } = run;
    const main = cost === null ? say('tiles.no_price') : moneyOf(page.job, cost);
    const usual = price === null ? say('tiles.price') : listed ? format.dollars(price) : format.number(price);
    return (
        <Tile name={say('tiles.costs', { would: wouldOf(answer) })} main={main}>
            <Words
                id="tiles.at_price"
                slots={{
                    price: <Inline page={page} act={act} name="price_per_gpu_hour" usual={usual} />,
                    basis: (listed || cost !== null) && <Basis page={page} listed={listed} />,
                }}
            />
        </Tile>
    );
}

function Uses({ page, answer, act, run }: Props & { run: Run }) {
    const { energy_kwh: energy, co2_kg: carbon, watts_per_gpu: watts } = run;
    const power = <Inline page={page} act={act} name="watts_per_gpu" usual={watts === null ? say('tiles.power') : format.number(watts)} />;
    const grid = <Inline page={page} act={act} name="grid_co2_per_kwh" usual="" />;
    return (
        <Tile name={say('tiles.uses', { would: wouldOf(answer) })} main={energy === null ? say('tiles.no_power') : format.energy(energy)}>
            {carbon === null ? (
                <Words id="tiles.at_power" slots={{ power }} />
            ) : (
                <Words id="tiles.at_power_and_grid" args={{ carbon: format.mass(carbon) }} slots={{ power, grid }} />
            )}
        </Tile>
    );
}

// Without an answer there are no tiles: what is wrong in the budget is mended here.
export function WrongBudget({ page, act }: { page: FieldsOf; act: Actions }) {
    const wrong = page.catalog.fields.filter(({ key }) => IN_TILES.includes(key) && problemAttributes(page, key).invalid);
    if (wrong.length === 0) return null;
    return (
        <p class="budget tiles">
            {wrong.map((field) => (
                <span key={field.key}>
                    {fieldName(field)}: <Inline page={page} act={act} name={field.key} usual="" />
                </span>
            ))}
        </p>
    );
}

// How long, how much money, how much energy: for the whole training, with what it rests on.
export const Tiles = settledOn(FIELDS_OF, ({ page, answer, act }: Props) => {
    const { run } = answer.time;
    return (
        <dl class="tiles">
            <Takes answer={answer} run={run} />
            {run && <Costs page={page} answer={answer} act={act} run={run} />}
            {run && <Uses page={page} answer={answer} act={act} run={run} />}
        </dl>
    );
});
