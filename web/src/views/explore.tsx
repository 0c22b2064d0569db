import { format } from '../format';
import { m } from '../i18n/more';
import type { Actions, Page } from '../store';
import { matters } from './options';

// What the list of best configurations tries beside the degrees, and how much risk it accepts.
const RISKS = [0.01, 0.05, 0.2, 0.5];

export function Explore({ page, act }: { page: Page; act: Actions }) {
    const field = page.catalog.fields.find((one) => one.key === 'explore');
    const choices = field && 'choices' in field ? field.choices : [];
    const chosen = new Set(String(page.job.explore ?? '').split(','));
    const experts = matters(page)('expert_parallel');
    const set = (id: string, on: boolean): void => {
        const next = choices.filter((choice) => (choice.id === id ? on : chosen.has(choice.id)));
        act.change({ explore: next.map((choice) => choice.id).join(',') }, 'choose');
    };
    const risk = Number(page.job.risk);
    const risks = RISKS.includes(risk) ? RISKS : [...RISKS, risk].sort((a, b) => a - b);
    return (
        <fieldset class="filters explore">
            <legend>{m.best.explore}</legend>
            {choices
                .filter((choice) => experts || choice.id !== 'expert_parallel')
                .map((choice) => (
                    <label key={choice.id} class="check" title={choice.help}>
                        <input
                            type="checkbox"
                            checked={chosen.has(choice.id)}
                            onChange={(event) => set(choice.id, event.currentTarget.checked)}
                        />{' '}
                        {choice.label}
                    </label>
                ))}
            <label title={m.best.riskHelp}>
                {m.best.risk}{' '}
                <select value={String(risk)} onChange={(event) => act.change({ risk: Number(event.currentTarget.value) }, 'choose')}>
                    {risks.map((one) => (
                        <option key={one} value={one} selected={one === risk}>
                            {format.percent(one)}
                        </option>
                    ))}
                </select>
            </label>
        </fieldset>
    );
}
