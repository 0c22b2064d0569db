// Why did it die? What a run printed, against what is counted for its plan where a job is named.
import type { Alternatives, Answers, Catalog, Change, Estimate, JobRefusal, Refusal } from '../core/api';
import { countedOf } from '../formats/counted';
import { isLog } from '../formats/is-log';
import {
    againstArgs,
    cardTexts,
    neededPerCounted,
    numberRows,
    otherGpus,
    quantityName,
    seriesText,
    verdictTexts,
} from '../formats/run-words';
import { lineOf } from '../shared/answer-words';
import { problemText } from '../shared/names';
import { pinOf } from '../state/state';
import { say, tell } from '../words/words';
import { type Asked, complained, type Done, FITS, refused, type TextCore } from './asked';
import { table } from './table';

type Run = Answers['read_run'];

const readRun = (core: TextCore, text: string, counted: ReturnType<typeof countedOf> | null): string =>
    core.read_run(JSON.stringify({ text, counted }));

export const isRunLog = (text: string, core: TextCore): boolean => isLog(JSON.parse(readRun(core, text, null)) as Run);

const titled = (title: string, lines: readonly string[]): string => [title, '', ...lines].join('\n');

// What was read, and what it is compared with.
function toldOf(run: Extract<Run, { ok: true }>, against: readonly string[], changes: readonly Change[], line: number): string {
    const head = [say('paste.script.line'), say('run.read_as'), say('run.written'), say('run.rank')];
    const numbers = numberRows(run);
    return titled(run.ended !== null ? say('run.died') : say('run.ran'), [
        ...against,
        ...verdictTexts(run, changes, line),
        ...(run.series.length > 0 ? ['', table(run.series.map((one) => [quantityName(one), seriesText(one)]))] : []),
        ...(numbers.length > 0 ? ['', table([head, ...numbers])] : []),
    ]);
}

// Of a run that ended otherwise than by a GPU's memory there is nothing to count.
function withoutPlan(answer: string, catalog: Catalog): Done {
    const run = JSON.parse(answer) as Run;
    if (run.ok) {
        const text = toldOf(run, cardTexts(run, { job: {}, catalog }, false), [], 1);
        return { status: FITS, answer, text, notes: [...run.notes.map(tell), say('cli.not_compared')] };
    }
    if (!isLog(run)) return refused(answer);
    return { status: FITS, answer, text: titled(say('run.died'), run.problems.map(problemText)), notes: [] };
}

export function why({ core, catalog, request, log, named }: Asked): Done {
    if (log === null) return complained(say('cli.no_log'));
    const alone = readRun(core, log, null);
    if (!named || !(JSON.parse(alone) as Run).ok) return withoutPlan(alone, catalog);
    const job = JSON.stringify(request);
    const counted = core.estimate(job);
    const estimate = JSON.parse(counted) as Estimate | JobRefusal;
    if (!estimate.ok) return refused(counted);
    const others = JSON.parse(core.alternatives(job)) as Alternatives | Refusal;
    const answer = readRun(core, log, countedOf(estimate, others.ok ? others : null));
    const run = JSON.parse(answer) as Run;
    if (!run.ok) return refused(answer);
    const against = { job: pinOf(estimate.job, catalog).job, catalog };
    const lines = [say('cli.against', againstArgs(against)), ...cardTexts(run, against, true), ...otherGpus(run, against.job)];
    const text = toldOf(run, lines, others.ok ? others.changes : [], lineOf(estimate));
    return { status: FITS, answer, text, notes: run.notes.map(tell), times: neededPerCounted(run) };
}
