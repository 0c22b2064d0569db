// The pages of the catalogue as texts: plugins/pages.ts writes them. Runs in Node only.
import { renderToString } from 'preact-render-to-string';
import type { Catalog, Fourfold } from '../core/api';
import { fetchWords, say } from '../words/words';
import { answerOfRun, ListPage, RunPage, titleOfRun } from './page';
import { type CatalogueRun, runOf } from './runs';

export interface Rendered {
    path: string; // below the page's own address
    title: string;
    description: string;
    body: string;
}

const pageOf = (run: CatalogueRun, catalog: Catalog): Rendered => ({
    path: `m/${run.model.id}/${run.gpu.id}/`,
    title: titleOfRun(run),
    description: answerOfRun(run),
    body: renderToString(<RunPage run={run} catalog={catalog} />),
});

// One after the other; `wanted` chooses by "model/gpu". The list comes last.
export async function* pages(core: Fourfold, wanted: (name: string) => boolean): AsyncGenerator<Rendered> {
    await fetchWords('first', 'names', 'built');
    const catalog = JSON.parse(core.catalog()) as Catalog;
    const runs: CatalogueRun[] = [];
    for (const model of catalog.models) {
        for (const gpu of catalog.gpus) {
            if (!wanted(`${model.id}/${gpu.id}`)) continue;
            const run = runOf(core, catalog, model, gpu);
            runs.push(run);
            yield pageOf(run, catalog);
        }
    }
    const list = say('catalogue.list');
    yield {
        path: 'm/',
        title: say('page.title', { summary: list, name: say('page.name') }),
        description: say('catalogue.list_help'),
        body: renderToString(<ListPage runs={runs} />),
    };
}
