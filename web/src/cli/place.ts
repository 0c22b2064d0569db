// Which node should stand where on measured links: a table, or the file for a launcher.
import type { Answers, Placed, PlaceProgress, PlaceRequest, Refusal } from '../core/api';
import { format } from '../format/format';
import { nameOf, problemText } from '../shared/names';
import { stepText } from '../shared/step-text';
import { say, tell } from '../words/words';
import { type Asked, complained, type Done, FITS, type Io, refused } from './asked';
import { numberOf } from './own';
import { erased } from './progress';
import { table } from './table';

const SECONDS = 10;
const TOLD_MS = 100; // from one word of progress to the next

function findingOf({ objective, nothing_to_gain, finding, gain_share: gain, best_seconds, default_seconds }: Placed): string {
    if (nothing_to_gain) return tell(finding);
    const [best, was] = [stepText(best_seconds), stepText(default_seconds)];
    return objective.id === 'step_time'
        ? say('placement.result.faster', { gain, best, was })
        : say('placement.result.lower', { gain, best, was, label: nameOf('choice.objective', objective) });
}

const span = ([first, last]: readonly [number, number]): string =>
    first === last ? format.count(first + 1) : `${format.count(first + 1)}–${format.count(last + 1)}`;

function positionsOf({ positions }: Placed, names: readonly string[]): string {
    const head = [
        say('placement.result.position'),
        say('placement.result.stage_head'),
        say('placement.result.rank_head'),
        say('placement.result.default_node'),
        say('placement.result.node'),
    ];
    const rows = positions.map(({ position, stages, data_ranks, name }) => [
        format.count(position + 1),
        span(stages),
        span(data_ranks),
        names[position] ?? '',
        name,
    ]);
    return table([head, ...rows], [0, 1, 2]);
}

// Says whether to go on: for so many seconds.
function clock(seconds: number, io: Io): (progress: string) => boolean {
    const started = io.now();
    let told = started;
    return (progress) => {
        const now = io.now();
        if (io.live && now - told >= TOLD_MS) {
            told = now;
            const { moves, best_seconds, default_seconds } = JSON.parse(progress) as PlaceProgress;
            io.err(erased(say('cli.placing', { moves, best: stepText(best_seconds), was: stepText(default_seconds) })));
        }
        return now - started < seconds * 1000;
    };
}

const namesOf = (links: PlaceRequest['links']): readonly string[] => links.nodes ?? links.gpus ?? [];

function told(answer: Placed, links: PlaceRequest['links'], file: string | undefined, text: string): Done {
    const notes = answer.warnings.map(problemText);
    const wanted = answer.files.find(({ id }) => id === file);
    if (wanted) return { status: FITS, answer: text, text: wanted.text, notes: [findingOf(answer), tell(wanted.how), ...notes] };
    const ids = answer.files.map(({ id }) => id);
    if (file !== undefined) return complained(say('cli.no_such_file', { name: file, ids: ids.length > 0 ? ids : ['–'] }));
    const files = ids.length > 0 ? ['', say('cli.launchers', { ids })] : [];
    const spare = answer.spare.map((unit) => namesOf(links)[unit] ?? '');
    const unused = spare.length > 0 ? [say('placement.result.spare', { names: spare })] : [];
    return {
        status: FITS,
        answer: text,
        text: [findingOf(answer), '', positionsOf(answer, namesOf(links)), ...unused, ...files].join('\n'),
        notes,
    };
}

export function place({ core, request, own, io }: Asked): Done {
    if (own.links === undefined) return complained(say('cli.no_links'));
    const seconds = own.seconds === undefined ? SECONDS : numberOf(own.seconds, 'seconds');
    if (typeof seconds !== 'number' || seconds <= 0) {
        return complained(say('cli.problem', { option: '--seconds', text: say('cli.above_zero') }));
    }
    let measured: string;
    try {
        measured = io.read(own.links);
    } catch {
        return complained(say('cli.no_file', { name: own.links }));
    }
    const reading = core.read_links(JSON.stringify({ text: measured, ...(own.unit !== undefined && { unit: own.unit }) }));
    const read = JSON.parse(reading) as Answers['read_links'];
    if (!read.ok) return refused(reading);
    if ('collectives' in read) return complained(say('cli.no_single_links'));
    const text = core.place(JSON.stringify({ ...request, links: read.links }), clock(seconds, io));
    const answer = JSON.parse(text) as Placed | Refusal;
    return answer.ok ? told(answer, read.links, own.file, text) : refused(text);
}
