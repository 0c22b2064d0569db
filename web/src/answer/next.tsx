import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Estimate, Size } from '../core/api';
import { format } from '../format/format';
import { moneyOf } from '../shared/answer-words';
import type { Actions, Page } from '../store/page';
import { say, sentences } from '../words/words';
import { whoseOf } from './whose';

const MOST_WORK = 2; // times the seconds of a GPU here: beyond it most of them wait

function Card({ href, question, answer, note }: { href: string; question: string; answer: ComponentChildren; note?: string | false }) {
    return (
        <a href={href}>
            <small>{question}</small> <b>{answer}</b> {note && <span>{note}</span>}
        </a>
    );
}

// What is not known yet; of a run that is wrong nothing comes.
const coming = ({ problems }: Page) => say(problems.length > 0 ? 'next.see' : 'later.coming');

const aStep = (time: number): string => say('tiles.a_step', { time });
const onGpus = ({ gpus, run, step }: Fitting): string =>
    say('next.on_gpus', { gpus, time: run ? format.training(run.days, run.days, run.days)[0] : aStep(step) });

// How long it takes there, told by the number above one.
const beside = (there: number, here: number): string =>
    there < here ? say('next.as_fast', { times: format.times(here / there) }) : say('next.as_long', { times: format.times(there / here) });

type Fitting = Pick<Size, 'gpus' | 'run' | 'efficiency'> & { step: number };
// The numbers of GPUs of the map on which some plan fits, ascending. Undefined: the map of this run is on its way.
const fittingOf = ({ heat, heatOf, job }: Page): Fitting[] | undefined =>
    heat && heatOf === job
        ? heat.summary.sizes.flatMap(({ gpus, run, efficiency, entry }) =>
              entry === null ? [] : [{ gpus, run, efficiency, step: heat.columns.step_seconds[entry] ?? 0 }],
          )
        : undefined;

function Fewer({ page, answer }: Props) {
    const { limits, limitsStale } = page;
    const fits = answer.class === 'fits';
    const runs = answer.class !== 'does_not_fit'; // otherwise there is no time to hold another beside
    const question = say(fits ? 'next.fewer' : 'next.enough');
    const now = Number(answer.job.gpus);
    if (fits && now === 1) return null; // there are no fewer
    const { step_seconds: here, run } = answer.time;
    const open = whoseOf(page) === 'all';
    // Beside a plan of the reader's own the map says nothing: it chooses all of it.
    const fewer = fits && open ? (fittingOf(page) ?? []).filter(({ gpus }) => gpus < now) : [];
    const fast = fewer.filter(({ step }) => step < here).at(-1);
    if (fast) return <Card href="#gpus" question={question} answer={onGpus(fast)} note={beside(fast.step, here)} />;
    if (!limits || limitsStale) return <Card href="#limits" question={question} answer={coming(page)} />;
    const found = limits.fewest_gpus;
    // Faster and the changes set degrees anew, this keeps what the reader has set.
    if (!found) {
        const [other] = fittingOf(page) ?? [];
        const none = open ? say('next.none', { most: limits.searched.to_gpus }) : say('next.none_yours');
        const note = !open && other !== undefined && say('next.without', { answer: onGpus(other) });
        return <Card href="#limits" question={question} answer={none} note={note} />;
    }
    const { gpus, step_seconds } = found;
    // Where a GPU does less than half of its work here, the first number of the map on which it does that.
    const work = here * now * MOST_WORK;
    const better = step_seconds * gpus > work && fewer.find((one) => one.gpus > gpus && one.step * one.gpus <= work);
    const days = run && (run.days * step_seconds) / here;
    const other = runs ? beside(step_seconds, here) : days ? format.training(days, days, days)[0] : aStep(step_seconds);
    const note = sentences(gpus !== now ? other : now > 1 && say('next.no_fewer'), better && onGpus(better));
    return <Card href="#limits" question={question} answer={say('next.are_enough', { gpus })} note={note} />;
}

function Faster({ page, answer }: Props) {
    const question = say('next.faster');
    const fitting = fittingOf(page);
    if (!fitting) return <Card href="#gpus" question={question} answer={coming(page)} />;
    const now = Number(answer.job.gpus);
    const more = fitting.find(({ gpus }) => gpus === page.heat?.summary.faster);
    if (!more) return <Card href="#gpus" question={question} answer={say('next.see')} />;
    // Beside the best plan on as many GPUs as now: of the map, or the one shown, whose time the reader sees, where that is faster.
    const here = fitting.find(({ gpus }) => gpus === now);
    const shown = answer.class === 'fits' ? answer.time.step_seconds : Number.POSITIVE_INFINITY;
    const share = here ? (Math.min(here.step, shown) * now) / (more.step * more.gpus) : 2;
    // Where memory holds back the plans here, with recomputation say, each of more GPUs does more: that says nothing of those.
    const note = share <= 1 && say('next.each', { share });
    const cost = more.run?.cost;
    return <Card href="#gpus" question={question} answer={onGpus(more) + (cost ? ` · ${moneyOf(page.job, cost)}` : '')} note={note} />;
}

function Longer({ page, answer }: Props) {
    const { limits, limitsStale } = page;
    const question = say('next.longer');
    if (!limits || limitsStale) return <Card href="#limits" question={question} answer={coming(page)} />;
    const found = limits.largest_sequence;
    if (found && found.value <= Number(answer.job.sequence_length)) {
        const note = say('next.longest', { tokens: found.value });
        return <Card href="#limits" question={question} answer={say('next.no_longer')} note={note} />;
    }
    if (!found) {
        const note = say('next.on_these', { gpus: Number(answer.job.gpus) });
        return (
            <Card
                href="#limits"
                question={question}
                answer={say(whoseOf(page) === 'all' ? 'next.no_length' : 'next.none_yours')}
                note={note}
            />
        );
    }
    const step = aStep(found.step_seconds);
    const more = found.limited_by === 'range';
    const made = found.notes.find(({ id }) => id === 'largest.sequence.beyond_model')?.args?.positions;
    return (
        <Card
            href="#limits"
            question={question}
            answer={say('next.tokens', { tokens: more ? format.short(found.value) : format.count(found.value), more })}
            note={made ? say('next.made_for', { step, tokens: Number(made) }) : step}
        />
    );
}

interface Props {
    page: Page;
    answer: Estimate;
}

// The questions that come next. Each carries its answer already and leads to where it stands in full.
export function Next({ page, answer, act }: Props & { act: Actions }) {
    useEffect(() => act.wantLimits(), []);
    return (
        <nav class="next" aria-label={say('next.label')}>
            <Fewer page={page} answer={answer} />
            <Faster page={page} answer={answer} />
            <Longer page={page} answer={answer} />
            <Card href="#cards" question={say('next.cards')} answer={say('next.cards_answer')} note={say('next.cards_note')} />
            <Card href="#calibrate" question={say('next.own')} answer={say('next.own_answer')} note={say('next.own_note')} />
            <Card href="#placement" question={say('next.links')} answer={say('next.links_answer')} note={say('next.links_note')} />
        </nav>
    );
}
