import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Estimate, Size } from '../core/api';
import { format } from '../format/format';
import type { Actions, Page } from '../store/page';
import { say } from '../words/words';
import { whoseOf } from './whose';

const MANY_TIMES = 8; // more GPUs than now, at most, in the answer to "Faster?"

function Card({ href, question, answer, note }: { href: string; question: string; answer: ComponentChildren; note?: string | false }) {
    return (
        <a href={href}>
            <small>{question}</small> <b>{answer}</b> {note && <span>{note}</span>}
        </a>
    );
}

// What is not known yet; of a run that is wrong nothing comes.
const coming = ({ problems }: Page) => say(problems.length > 0 ? 'next.see' : 'later.coming');

// How long it takes there, told by the number above one.
const beside = (there: number, here: number): string =>
    there < here ? say('next.as_fast', { times: format.tenth(here / there) }) : say('next.as_long', { times: format.tenth(there / here) });

function Fewer({ page, answer }: Props) {
    const { limits, limitsStale } = page;
    const question = say(answer.class === 'fits' ? 'next.fewer' : 'next.enough');
    if (!limits || limitsStale) return <Card href="#limits" question={question} answer={coming(page)} />;
    const found = limits.fewest_gpus;
    if (!found) {
        // Faster and the changes set degrees anew, this keeps what the reader has set.
        const note = whoseOf(page) !== 'all' && say('answer.other_plan');
        return <Card href="#limits" question={question} answer={say('next.none', { most: limits.searched.to_gpus })} note={note} />;
    }
    const now = Number(answer.job.gpus);
    const note = found.gpus !== now ? beside(found.step_seconds, answer.time.step_seconds) : now > 1 && say('next.no_fewer');
    return <Card href="#limits" question={question} answer={say('next.are_enough', { gpus: found.gpus })} note={note} />;
}

// The largest number of GPUs of the map, up to so many times the run's own, on which some plan fits.
function moreOf(sizes: readonly Size[], now: number): Size | undefined {
    return sizes.filter(({ gpus, entry }) => entry !== null && gpus > now && gpus <= MANY_TIMES * now).at(-1);
}

function Faster({ page, answer }: Props) {
    const { heat, heatOf } = page;
    const question = say('next.faster');
    if (!heat || heatOf !== page.job) return <Card href="#gpus" question={question} answer={coming(page)} />;
    const now = Number(answer.job.gpus);
    const more = moreOf(heat.summary.sizes, now);
    if (!more || more.entry === null) return <Card href="#gpus" question={question} answer={say('next.see')} />;
    const step = heat.columns.step_seconds[more.entry] ?? 0;
    const time = more.run ? format.training(more.run.days, more.run.days, more.run.days)[0] : say('tiles.a_step', { time: step });
    const share = (answer.time.step_seconds * now) / (step * more.gpus);
    // A plan that does not fit does no work to be compared with.
    const note = answer.class !== 'does_not_fit' && say('next.each', { share });
    return <Card href="#gpus" question={question} answer={say('next.on_gpus', { gpus: more.gpus, time })} note={note} />;
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
    return (
        <Card
            href="#limits"
            question={question}
            answer={found ? say('next.tokens', { tokens: found.value, more: found.limited_by === 'range' }) : say('next.no_length')}
            note={found ? say('tiles.a_step', { time: found.step_seconds }) : say('next.on_these', { gpus: Number(answer.job.gpus) })}
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
