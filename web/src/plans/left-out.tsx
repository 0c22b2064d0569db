import type { Field } from '../core/api';
import { format } from '../format/format';
import { problemAttributes } from '../shared/field-problems';
import { Folded } from '../shared/folded';
import { choiceHelp, choiceName, fieldName, lower } from '../shared/names';
import { leftOut, leftOutText, mayLeaveOut } from '../shared/plan-words';
import { useWords } from '../shared/use-words';
import { LEAVE_OUT } from '../state/state';
import type { Actions, Page } from '../store/page';
import { say } from '../words/words';

// What the search leaves out of its space, with a way to put it in, and how much risk it accepts.
const RISKS = [0.01, 0.05, 0.2, 0.5];

interface Props {
    page: Page;
    act: Actions;
}

const fieldOf = (page: Page, key: string): Field | undefined => page.catalog.fields.find((one) => one.key === key);

function Risk({ page, act }: Props) {
    const risk = Number(page.job.risk);
    const risks = RISKS.includes(risk) ? RISKS : [...RISKS, risk].sort((a, b) => a - b);
    return (
        <label title={say('best.risk_help')}>
            {say('best.risk')}{' '}
            <select
                id="field-risk"
                value={String(risk)}
                aria-invalid={problemAttributes(page, 'risk').invalid}
                onChange={(event) => act.change({ risk: Number(event.currentTarget.value) }, 'choose')}
            >
                {risks.map((one) => (
                    <option key={one} value={one} selected={one === risk}>
                        {format.percent(one)}
                    </option>
                ))}
            </select>
        </label>
    );
}

export function LeftOut({ page, act }: Props) {
    useWords('help');
    const field = fieldOf(page, LEAVE_OUT);
    if (field?.type !== 'set') return null;
    const out = String(page.job[LEAVE_OUT]).split(',');
    const { invalid, describedBy } = problemAttributes(page, LEAVE_OUT);
    const set = (id: string, leave: boolean): void => {
        const next = field.choices.filter((choice) => (choice.id === id ? leave : out.includes(choice.id)));
        act.change({ [LEAVE_OUT]: next.map((choice) => choice.id).join(',') }, 'choose');
    };
    return (
        <div class="left-out">
            <p>
                {leftOutText(page)}{' '}
                {leftOut(page).map(({ id, name }) => (
                    <button key={id} type="button" class="link" onClick={() => set(id, false)}>
                        {say('best.put_in', { what: lower(name) })}
                    </button>
                ))}
            </p>
            <Folded title={say('best.search')}>
                <fieldset class="filters explore">
                    <legend>{fieldName(field)}</legend>
                    {mayLeaveOut(page).map((choice, i) => (
                        <label key={choice.id} class="check" title={choiceHelp(field, choice)}>
                            <input
                                id={i === 0 ? `field-${LEAVE_OUT}` : undefined}
                                type="checkbox"
                                checked={out.includes(choice.id)}
                                aria-invalid={invalid}
                                aria-describedby={describedBy}
                                onChange={(event) => set(choice.id, event.currentTarget.checked)}
                            />{' '}
                            {choiceName(field, choice)}
                        </label>
                    ))}
                    <Risk page={page} act={act} />
                </fieldset>
            </Folded>
        </div>
    );
}
