// Pages without a script: how many GPUs a model of the catalogue needs and how long its training takes, and a list of these pages.

import type { Catalog } from '../core/api';
import { format } from '../format/format';
import { formatLink, type Job } from '../state/state';
import { say } from '../words/words';
import type { CatalogueRun } from './runs';

const HOME = '../../../'; // from a page of a run

const openLink = (job: Job, gpus: number, catalog: Catalog): string => HOME + formatLink({ ...job, gpus }, catalog);

export const titleOfRun = ({ model, gpu }: CatalogueRun): string =>
    say('page.title', { summary: say('catalogue.title', { model: model.label, gpu: gpu.label }), name: say('page.name') });

// The answer in a sentence, for whoever finds the page or sees a preview of it.
export function answerOfRun({ model, gpu, tokens, fewest, estimates }: CatalogueRun): string {
    if (!fewest) return say('catalogue.none', { model: model.label, gpu: gpu.label });
    const run = estimates.findLast(({ answer }) => answer.class !== 'does_not_fit');
    const needs = say('catalogue.fewest', { model: model.label, gpu: gpu.label, count: fewest.gpus });
    if (!run?.answer.time.run) return needs;
    const [time] = format.training(run.answer.time.run.days, run.answer.time.run.low_days, run.answer.time.run.high_days);
    return `${needs} ${say('catalogue.example', { count: run.gpus, time, tokens: format.short(tokens) })}`;
}

function Rows({ run, catalog }: { run: CatalogueRun; catalog: Catalog }) {
    return (
        <>
            {run.estimates.map(({ gpus, answer }) => {
                const { run: whole } = answer.time;
                const [time, low, high] = whole ? format.training(whole.days, whole.low_days, whole.high_days) : ['', '', ''];
                const fits = answer.class !== 'does_not_fit';
                return (
                    <tr key={gpus}>
                        <th scope="row">
                            <a href={openLink(run.job, gpus, catalog)}>{say('catalogue.gpus', { count: gpus })}</a>
                        </th>
                        <td class={answer.class}>{say(`answer.${answer.class}`)}</td>
                        <td>
                            {say('catalogue.memory', {
                                used: format.headline(answer.whole_bytes, answer.card_bytes),
                                share: answer.whole_bytes / answer.card_bytes,
                            })}
                        </td>
                        <td>{fits && whole ? say('catalogue.time', { time, low, high }) : '–'}</td>
                        <td class="r">{fits && whole ? format.rounded(whole.gpu_hours) : '–'}</td>
                    </tr>
                );
            })}
        </>
    );
}

export function RunPage({ run, catalog }: { run: CatalogueRun; catalog: Catalog }) {
    const { model, gpu, job, tokens, fewest } = run;
    return (
        <>
            <header>
                <a href={HOME}>{say('page.name')}</a> <a href="../../">{say('catalogue.all')}</a>
            </header>
            <main>
                <h1>{say('catalogue.title', { model: model.label, gpu: gpu.label })}</h1>
                <p class="lead">{answerOfRun(run)}</p>
                <p>
                    <a class="open" href={openLink(job, fewest?.gpus ?? Number(job.gpus), catalog)}>
                        {say('catalogue.open')}
                    </a>
                </p>
                <table>
                    <caption>{say('catalogue.caption', { tokens: format.short(tokens) })}</caption>
                    <thead>
                        <tr>
                            {(['gpus', 'fits', 'memory', 'time'] as const).map((id) => (
                                <th key={id} scope="col">
                                    {say(`catalogue.head.${id}`)}
                                </th>
                            ))}
                            <th scope="col" class="r">
                                {say('catalogue.head.hours')}
                            </th>
                        </tr>
                    </thead>
                    <tbody>
                        <Rows run={run} catalog={catalog} />
                    </tbody>
                </table>
                <p class="note">{say('catalogue.assumed', { sequence: Number(job.sequence_length), batch: Number(job.global_batch) })}</p>
            </main>
        </>
    );
}

export function ListPage({ runs }: { runs: readonly CatalogueRun[] }) {
    const models = [...new Set(runs.map(({ model }) => model))];
    const gpus = [...new Set(runs.map(({ gpu }) => gpu))];
    const cell = (model: CatalogueRun['model'], gpu: CatalogueRun['gpu']) => {
        const run = runs.find((one) => one.model === model && one.gpu === gpu);
        const text = run?.fewest ? format.count(run.fewest.gpus) : '–';
        return run && <a href={`${model.id}/${gpu.id}/`}>{text}</a>;
    };
    return (
        <>
            <header>
                <a href="../">{say('page.name')}</a>
            </header>
            <main>
                <h1>{say('catalogue.list')}</h1>
                <p class="lead">{say('catalogue.list_help')}</p>
                <div class="wide">
                    <table>
                        <thead>
                            <tr>
                                <td />
                                {gpus.map((gpu) => (
                                    <th key={gpu.id} scope="col">
                                        {gpu.label}
                                    </th>
                                ))}
                            </tr>
                        </thead>
                        <tbody>
                            {models.map((model) => (
                                <tr key={model.id}>
                                    <th scope="row">{model.label}</th>
                                    {gpus.map((gpu) => (
                                        <td key={gpu.id}>{cell(model, gpu)}</td>
                                    ))}
                                </tr>
                            ))}
                        </tbody>
                    </table>
                </div>
            </main>
        </>
    );
}
