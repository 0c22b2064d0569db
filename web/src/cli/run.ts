// One call of the command line, from what was typed to the exit status.
import type { Catalog, Problem, Refusal } from '../core/api';
import { speakAll } from '../package/words';
import { fieldOf } from '../shared/field-problems';
import { problemText } from '../shared/names';
import { nearestName } from '../shared/nearest';
import { LANGUAGES, type Language, languageOf } from '../words/language';
import { listed, say, sentences, tell } from '../words/words';
import { type Given, readArguments, type Typed } from './arguments';
import { type Asked, type Done, type Io, type TextCore, WRONG } from './asked';
import { best } from './best';
import { exportPlan } from './export';
import { withFaster } from './faster';
import { fit } from './fit';
import { helpOf, overview } from './help';
import { inputOf, isLink, readInput } from './input';
import { isBooleanField, jobKey, otherModels, type Read, withOptions } from './job';
import { limits } from './limits';
import { clusters, gpus, models } from './lists';
import { COMMANDS, type Command, commands, FLAGS, flagsOf, isFlag, keyOf, type Own, optionOf, ownOf, takesJob } from './options';
import { phases } from './phases';
import { place } from './place';
import { pools } from './pools';
import { erased } from './progress';
import { saidOf } from './script';
import { joinedFiles, type NamedText } from './several';
import { plain } from './table';
import { isRunLog, why } from './why';

type Answering = (asked: Asked) => Done | Promise<Done>;
const andFaster =
    (command: (asked: Asked) => Done): Answering =>
    (asked) =>
        withFaster(asked, command(asked));
const ANSWERS: Record<Command, Answering> = {
    fit: andFaster(fit),
    why: andFaster(why),
    best,
    limits,
    phases,
    pools,
    export: exportPlan,
    place,
    models,
    gpus,
    clusters,
};
const MOST_OTHERS = 6; // models by a similar name, as the core lists its own
const LISTED = ['model', 'gpu', 'cluster'];
const NAMES_A_RUN = [...LISTED, 'gpus'];

const didYouMean = (near: string | null): string => (near === null ? '' : ` ${tell({ id: 'suggestion.did_you_mean', args: { near } })}`);
const isCommand = (name: string | undefined): name is Command => commands.some((one) => one === name);

// ---- what belongs to the command, what to the job, and what to neither
interface Sorted {
    own: Partial<Record<Own, string>>;
    job: Given[];
    complaints: string[];
}

function sorted(command: Command, given: readonly Given[], catalog: Catalog): Sorted {
    const known = ownOf(command);
    const elsewhere = Object.values(COMMANDS).flat() as string[];
    const result: Sorted = { own: {}, job: [], complaints: [] };
    for (const one of given) {
        const { option, key, text } = one;
        if (isFlag(key)) {
            result.complaints.push(say('cli.no_value_wanted', { option }));
            continue;
        }
        const own = known.find((name) => name === key);
        const near = nearestName(key, [...known, ...FLAGS]);
        const ofJob = takesJob(command) && (jobKey(key, catalog) !== null || (near === null && !elsewhere.includes(key)));
        if (!own && !ofJob) {
            const meant = didYouMean(near === null ? null : optionOf(near));
            result.complaints.push(say('cli.unknown_option', { option, command }) + meant);
        } else if (text === null) result.complaints.push(say('cli.no_value', { option }));
        else if (own === 'set')
            result.own.set = `${result.own.set ?? ''}\n${text}`; // may be given several times
        else if (own) result.own[own] = text;
        else result.job.push(one);
    }
    return result;
}

// ---- what files say
// A text made of several stands where the first of them does.
function inPlace(texts: readonly NamedText[], joined: NamedText | undefined): readonly NamedText[] {
    const parts = texts.filter(({ text }) => inputOf(text).kind === 'import');
    return texts.flatMap((one) => (joined && one === parts[0] ? [joined] : parts.includes(one) ? [] : [one]));
}

async function gathered(files: readonly string[], { command, io, core, catalog }: Call, { own, job: given }: Sorted): Promise<Read> {
    const all: Read = { job: {}, refusal: null, complaints: [], notes: [] };
    const texts: NamedText[] = [];
    for (const name of files) {
        let text: string;
        try {
            text = isLink(name) ? name : io.read(name);
        } catch {
            all.complaints.push(say('cli.no_file', { name }));
            continue;
        }
        if (command === 'why' && isRunLog(text, core)) {
            all.log = `${all.log ?? ''}${text}\n`;
            const also = files.length > 1 ? null : await readInput(name, text, core, catalog, saidOf(own, given, catalog, core));
            if (also?.script && also.complaints.length === 0) Object.assign(all, also); // the script stands above what it printed
        } else texts.push({ name, text });
    }
    const joined = joinedFiles(texts.filter(({ text }) => inputOf(text).kind === 'import'));
    for (const { name, text } of joined.length > 1 ? texts : inPlace(texts, joined[0])) {
        const read = await readInput(name, text, core, catalog, saidOf(own, given, catalog, core));
        const { job, refusal, complaints, notes, script } = read;
        if (read.isOpen) all.isOpen = true;
        all.job = { ...all.job, ...job };
        all.refusal ??= refusal;
        if (script) all.script = script;
        all.complaints.push(...complaints);
        all.notes.push(...notes);
    }
    return all;
}

// ---- what is wrong
// The option that gave a field, as it was typed.
function optionFor(field: string, given: readonly Given[], command: Command, catalog: Catalog): string {
    const typed = given.findLast(({ key }) => (jobKey(key, catalog) ?? key) === field);
    if (typed) return typed.option;
    const own = field === 'format' ? 'to' : field;
    return jobKey(field, catalog) || ownOf(command).some((name) => name === own) ? optionOf(own) : field;
}

// The ids that may be meant stand behind it; where none is near, which command lists them all.
function problemLine(problem: Problem, option: string): string {
    const { candidates, nearest, rule } = problem;
    const field = fieldOf(problem);
    const ids = candidates ? listed(candidates) : null;
    const list =
        rule === 'range' && (nearest === null || candidates?.length === MOST_OTHERS) && LISTED.includes(field)
            ? say('cli.lists', { command: `fourfold ${field}s` })
            : null;
    const text = sentences(problemText(problem), ids, list);
    return option === '' ? text : say('cli.problem', { option, text });
}

const line = (text: string): string => `${plain(text)}\n`;

// ---- one call
interface Call {
    command: Command;
    typed: Typed;
    io: Io;
    core: TextCore;
    catalog: Catalog;
}

function show({ command, typed, io }: Call, { own }: Sorted, { answer, text, notes }: Done): void {
    if (typed.flags.has('json') && answer !== '') {
        io.out(`${answer}\n`);
        return;
    }
    const isFile = command === 'export' || own.file !== undefined;
    if (typed.flags.has('csv')) io.out(text);
    else if (text !== '') io.out(isFile ? `${text.trimEnd()}\n` : line(text));
    for (const note of notes) io.err(line(note));
}

// All that is wrong, at once: with the command line, with a file, with the job that they come to.
function refuse(
    { command, typed, io, core, catalog }: Call,
    { job }: Sorted,
    answers: readonly string[],
    complaints: readonly string[],
    isOpen = false, // the file leaves fields open: of the rest, what an option gives is told
): number {
    const given = new Set(job.map(({ key }) => jobKey(key, catalog) ?? key));
    const all = answers.flatMap((answer) => (JSON.parse(answer) as Partial<Refusal>).problems ?? []);
    const problems = isOpen ? all.filter((one) => given.has(fieldOf(one))) : all;
    const [only] = answers;
    if (typed.flags.has('json') && complaints.length === 0 && only !== undefined) io.out(`${only}\n`);
    else {
        const lines = problems.map((one) => problemLine(one, optionFor(fieldOf(one), job, command, catalog)));
        const model = problems.find(({ field, rule }) => field === 'model' && rule === 'range');
        const others = model ? otherModels(String(model.value), catalog, core).slice(0, MOST_OTHERS) : [];
        const also = others.length > 0 ? [say('cli.other_models', { ids: listed(others.map(({ id }) => id)) })] : [];
        for (const text of [...complaints, ...lines, ...also]) io.err(line(text));
    }
    return WRONG;
}

// Where no script asks for it, what --set gives is an option of that name.
function setAsOptions({ own }: Sorted, files: readonly string[], from: Read): Given[] {
    const fromScript = from.script !== undefined || (files.length > 0 && (from.refusal !== null || from.complaints.length > 0));
    if (own.set === undefined || fromScript) return [];
    return own.set.split('\n').flatMap((pair) => {
        if (pair.trim() === '') return [];
        const [name = '', ...value] = pair.split('=');
        return [{ option: `--set ${name}`, key: keyOf(name), text: value.length > 0 ? value.join('=') : null }];
    });
}

async function answered(call: Call): Promise<number> {
    const { command, typed, io, core, catalog } = call;
    const parts = sorted(command, typed.given, catalog);
    const files = typed.words.slice(1);
    const ofJob = takesJob(command);
    const from = await gathered(ofJob ? files : [], call, parts);
    const set = setAsOptions(parts, files, from);
    parts.job.push(...set.filter(({ text }) => text !== null));
    const empty = set.filter(({ text }) => text === null).map(({ option }) => say('cli.no_value', { option }));
    const unread = ofJob ? [] : files.map((name) => say('cli.no_file_wanted', { name, command }));
    const unwanted = [...typed.flags].filter((flag) => !flagsOf(command).includes(flag));
    const unknown = unwanted.map((flag) => say('cli.unknown_option', { option: optionOf(flag), command }));
    const complaints = [...unknown, ...parts.complaints, ...empty, ...unread, ...from.complaints];
    const request = withOptions(from.job, parts.job, catalog, core);
    if (complaints.length > 0 || from.refusal !== null) {
        const refusal = from.refusal === null ? [] : [from.refusal];
        return refuse(call, parts, [...refusal, ...(ofJob ? [core.estimate(JSON.stringify(request))] : [])], complaints, from.isOpen);
    }
    for (const note of from.notes) io.err(line(note));
    if (io.live) io.err(erased(say('boot.working')));
    const { log = null, script = null } = from;
    const named = Object.keys(from.job).length > 0 || parts.job.some(({ key }) => NAMES_A_RUN.includes(jobKey(key, catalog) ?? key));
    const done = await ANSWERS[command]({ core, catalog, request, named, own: parts.own, csv: typed.flags.has('csv'), io, log, script });
    if (io.live) io.err(erased());
    if (done.status === WRONG) {
        const status = refuse(call, parts, done.answer === '' ? [] : [done.answer], done.complaints ?? []);
        for (const note of done.notes) io.err(line(note));
        return status;
    }
    show(call, parts, done);
    return done.status;
}

function languageIn(given: Given[], io: Io): { language: Language; complaint: boolean } {
    const said = given.findLast(({ key }) => key === 'lang')?.text;
    const language = languageOf('', said ?? null, [io.language]);
    return { language, complaint: said !== undefined && said !== null && !Object.keys(LANGUAGES).includes(said) };
}

export async function run(args: readonly string[], io: Io, core: TextCore): Promise<number> {
    const catalog = JSON.parse(core.catalog()) as Catalog;
    const typed = readArguments(args, (key) => isBooleanField(key, catalog));
    const { language, complaint } = languageIn(typed.given, io);
    await speakAll(language);
    const asksHelp = typed.flags.has('help') || typed.words[0] === 'help';
    const [name] = typed.words[0] === 'help' ? typed.words.slice(1) : typed.words;
    if (complaint) {
        io.err(line(say('cli.option.lang', { ids: Object.keys(LANGUAGES) })));
        return WRONG;
    }
    if (typed.flags.has('version')) {
        io.out(`${io.version}\n`);
        return 0;
    }
    if (asksHelp || name === undefined) {
        const help = isCommand(name) ? helpOf(name, catalog) : overview();
        (asksHelp ? io.out : io.err)(line(help));
        return asksHelp ? 0 : WRONG;
    }
    if (!isCommand(name)) {
        io.err(line(say('cli.unknown_command', { name }) + didYouMean(nearestName(keyOf(name), commands))));
        io.err(line(overview()));
        return WRONG;
    }
    return answered({ command: name, typed, io, core, catalog });
}
