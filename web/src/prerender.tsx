// The finished example that index.html carries: the default run, worked out by the real module when the page is built, so that the first
// paint shows an answer and no number stands in the sources. Runs in Node only.
import { renderToString } from 'preact-render-to-string';
import type { BootData, Example } from './boot/types';
import type { Alternatives, Catalog, Estimate, Fourfold, Refusal } from './core/api';
import { t } from './i18n';
import { App } from './page/app';
import { summaryOf } from './shared/sentences';
import { defaults, request } from './state/state';
import { type Actions, emptyPage } from './store/page';

interface Prerendered {
    texts: Record<string, string>; // by their names in index.html
    boot: BootData;
    example: Example;
}

const IN_SENTENCE = ['gpus', 'sequence_length', 'global_batch'];

const bootData = (catalog: Catalog): BootData => ({
    models: Object.fromEntries(catalog.models.map(({ id, label }) => [id, label])),
    numbers: Object.fromEntries(catalog.fields.filter(({ key }) => IN_SENTENCE.includes(key)).map(({ link, key }) => [link, key])),
    words: { name: t.name, ownModel: t.form.ownModel, unknownGpu: t.form.unknownGpu('%'), ...t.boot },
});

export function prerender(core: Fourfold): Prerendered {
    const catalog = JSON.parse(core.catalog()) as Catalog;
    const job = defaults(catalog);
    const answer = JSON.parse(core.estimate(JSON.stringify(request(job)))) as Estimate | Refusal;
    if (!answer.ok) throw new Error(`The default run cannot be worked out: ${answer.problems.map((problem) => problem.message).join(' ')}`);
    const others = JSON.parse(core.alternatives(JSON.stringify(request(job)))) as Alternatives | Refusal;
    const alternatives = others.ok ? others : null;
    const page = { ...emptyPage(catalog, job), answer, alternatives };
    const never = () => {
        throw new Error('nothing can be done on a page that is being built');
    };
    const act = new Proxy({}, { get: () => never }) as Actions;
    const texts = {
        APP: renderToString(
            <App page={page} act={act} importConfig={never} timeline={never} calibrate={never} placing={{ measure: never, placers: [] }} />,
        ),
        TITLE: `${summaryOf(page)} – ${t.name}`,
        DESCRIPTION: t.description,
        NOSCRIPT: t.noscript,
    };
    return { texts, boot: bootData(catalog), example: { catalog, answer, alternatives } };
}
