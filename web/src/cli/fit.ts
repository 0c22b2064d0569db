// Does it fit, and what does it come to?
import type { Alternatives, Brief, Catalog, Estimate, Fit, JobRefusal, Limits, Refusal } from '../core/api';
import { format } from '../format/format';
import { lineOf, moneyOf, summaryOf } from '../shared/answer-words';
import { problemText } from '../shared/names';
import { newPlan, wholePlan } from '../shared/plan-words';
import { formatLink, type Job, pinOf } from '../state/state';
import { emptyPage } from '../store/page';
import { say, tell } from '../words/words';
import { type Asked, DOES_NOT_FIT, type Done, FITS, type Io, refused } from './asked';
import { table } from './table';

const MOST_CHANGES = 5;
const COLOURS: Record<Fit, string> = { fits: '32', at_risk: '33', does_not_fit: '31' }; // green, yellow, red

const coloured = (text: string, fit: Fit, { colours }: Io): string => (colours ? `\u001b[${COLOURS[fit]}m${text}\u001b[0m` : text);

// What is too much never reads as what still fits.
function apart(used: number, line: number, fit: Fit): { used: string; line: string } {
    const write = fit !== 'fits' && format.gb(used) === format.gb(line) ? format.gib : format.gb;
    return { used: write(used), line: write(line) };
}

function rowsOf(answer: Estimate, catalog: Catalog, job: Job): string[][] {
    const { card_bytes: card, whole_bytes: used, gpu, time } = answer;
    const { step_seconds, low_seconds: low, high_seconds: high, run } = time;
    const speed = format.rounded(time.tokens_per_s);
    const rows = [
        [
            say('cli.row.memory'),
            say('cli.memory', { card: format.nominal(gpu.memory_gib), ...apart(used, lineOf(answer) * card, answer.class) }),
        ],
        ...(answer.host ? [[say('cli.row.host'), tell(answer.host.verdict)]] : []),
        [say('cli.row.step'), say('cli.step', { time: step_seconds, low, high, speed })],
    ];
    if (run) {
        const [days, least, most] = format.training(run.days, run.low_days, run.high_days);
        rows.push([
            say('cli.row.training'),
            say('cli.training', {
                days,
                least,
                most,
                tokens: format.short(run.tokens),
                usual: typeof answer.job.token_budget !== 'number',
            }),
        ]);
        const { cost, price_per_gpu_hour: price, energy_kwh: energy } = run;
        if (cost !== null && price !== null) {
            const [whole, each] = [moneyOf(answer.job, cost), moneyOf(answer.job, price)];
            rows.push([say('cli.row.cost'), say('cli.cost', { whole, each, hours: format.rounded(run.gpu_hours) })]);
        }
        if (energy !== null) rows.push([say('cli.row.energy'), format.energy(energy)]);
    }
    rows.push([say('cli.row.plan'), wholePlan(catalog, answer.job, answer.data_parallel)]);
    rows.push([say('cli.row.link'), formatLink(job, catalog)]);
    return rows;
}

// What a config.json or a script was taken for: a model without a name is told by its size.
function modelRow({ model }: Estimate): string[][] {
    if (model.label) return [];
    const { num_hidden_layers: layers, hidden_size: hidden } = model.config;
    return [
        [
            say('cli.row.model'),
            say('cli.model', { parameters: format.short(model.parameters), layers: Number(layers), hidden: Number(hidden) }),
        ],
    ];
}

const changeRow = (label: string, { whole_bytes: used }: Brief, fit: Fit, touches = ''): string[] => [
    '',
    label,
    say('counting.other', { used, fit: say(`fit.${fit}`) }),
    touches,
];

// What would help most, as the page has it: what is enough, first the fewest GPUs that are; others only where nothing is.
function changesOf({ core, catalog, request }: Asked, gpus: number): string[] {
    const asked = JSON.stringify(request);
    const others = JSON.parse(core.alternatives(asked)) as Alternatives | Refusal;
    const limits = JSON.parse(core.limits(asked)) as Limits | Refusal;
    const fewest = limits.ok && limits.fewest_gpus && limits.fewest_gpus.gpus > gpus ? limits.fewest_gpus : null;
    const useful = others.ok ? others.changes.filter(({ set }) => !(fewest && 'gpus' in set)) : [];
    const enough = useful.filter((one) => one.class === 'fits');
    const rows = (fewest || enough.length > 0 ? enough : useful).map((one) =>
        changeRow(tell(one.label), one, one.class, newPlan(catalog, one)),
    );
    if (fewest) rows.unshift(changeRow(say('changes.gpus', { gpus: fewest.gpus }), fewest, 'fits', say('changes.gpus_fewest')));
    return rows.length === 0 ? [] : ['', say('changes.title'), table(rows.slice(0, MOST_CHANGES))];
}

export function fit(asked: Asked): Done {
    const { core, catalog, request, io } = asked;
    const text = core.estimate(JSON.stringify(request));
    const answer = JSON.parse(text) as Estimate | JobRefusal;
    if (!answer.ok) return refused(text);
    const { job } = pinOf(answer.job, catalog);
    const fits = answer.class === 'fits';
    const page = { ...emptyPage(catalog, job), answer };
    return {
        status: fits ? FITS : DOES_NOT_FIT,
        answer: text,
        text: [
            coloured(summaryOf(page), answer.class, io),
            '',
            table([...modelRow(answer), ...rowsOf(answer, catalog, job)]),
            ...(fits ? [] : changesOf(asked, Number(answer.job.gpus))),
        ].join('\n'),
        notes: answer.warnings.map(problemText),
    };
}
