// The finished example that index.html carries: the default run, worked out by the real module when the page is built, so that the first
// paint shows an answer and no number stands in the sources. Runs in Node only.
import { renderToString } from 'preact-render-to-string';
import type { BootData, BootWords, Example } from './boot/types';
import type { Alternatives, Catalog, Estimate, Fourfold, Refusal } from './core/api';
import { App } from './page/app';
import { messageOf } from './shared/names';
import { defaults, figures, request } from './state/state';
import { type Actions, emptyPage } from './store/page';
import { LANGUAGES, type Language } from './words/language';
import { fetchWords, say, speak } from './words/words';

interface Prerendered {
    texts: Record<string, string>; // by their names in index.html
    boot: BootData;
    example: Example;
}

const IN_SENTENCE = ['gpus', 'sequence_length', 'global_batch', 'token_budget'];

// What is said before the page's words are there, in every language.
async function bootWords(): Promise<Record<Language, BootWords>> {
    const all: Partial<Record<Language, BootWords>> = {};
    await fetchWords('built');
    for (const language of Object.keys(LANGUAGES) as Language[]) {
        await speak(language);
        all[language] = {
            name: say('page.name'),
            working: say('boot.working'),
            taken: say('boot.taken'),
            failed: say('boot.failed'),
            ownModel: say('form.own_model'),
            ownGpu: say('form.own_gpu'),
            unknownGpu: say('form.unknown_gpu', { id: '%' }),
            usualTokens: say('budget.usual'),
        };
    }
    await speak('en');
    return all as Record<Language, BootWords>;
}

const bootData = async (catalog: Catalog): Promise<BootData> => ({
    models: Object.fromEntries(catalog.models.map(({ id, label }) => [id, label])),
    numbers: Object.fromEntries(catalog.fields.filter(({ key }) => IN_SENTENCE.includes(key)).map(({ link, key }) => [link, key])),
    words: await bootWords(),
});

// Who reads the first screen downloads what it shows: of other models their sizes, of other GPUs and of clusters what they are called. All
// else comes with the module (store.know).
function withFewDetails(catalog: Catalog, { gpu, model }: { gpu: unknown; model: unknown }): Catalog {
    const gpus = catalog.gpus.map((one) =>
        one.id === gpu ? one : ({ id: one.id, label: one.label, sources: [] } as unknown as typeof one),
    );
    const clusters = catalog.clusters.map(({ id, gpu, label }) => ({ id, gpu, label }) as Catalog['clusters'][number]);
    return { ...catalog, gpus, clusters, models: catalog.models.map((one) => (one.id === model ? one : { ...one, sources: [] })) };
}

export async function prerender(core: Fourfold): Promise<Prerendered> {
    const catalog = JSON.parse(core.catalog()) as Catalog;
    const boot = await bootData(catalog); // and the words of the page, in English
    const job = defaults(catalog);
    const answer = JSON.parse(core.estimate(JSON.stringify(figures(job)))) as Estimate | Refusal;
    if (!answer.ok) throw new Error(`The default run cannot be worked out: ${answer.problems.map(messageOf).join(' ')}`);
    const others = JSON.parse(core.alternatives(JSON.stringify(request(job)))) as Alternatives | Refusal;
    const alternatives = others.ok ? others : null;
    const page = { ...emptyPage(catalog, job), answer, alternatives };
    const never = () => {
        throw new Error('nothing can be done on a page that is being built');
    };
    const act = new Proxy({}, { get: () => never }) as Actions;
    const texts = {
        APP: renderToString(
            <App
                page={page}
                act={act}
                asks={{ importConfig: never, exportPlan: never, estimate: never, alternatives: never, rank: never }}
                timeline={never}
                calibrate={never}
                placing={{ measure: never, placers: [], exportPlan: never }}
                prover={{ estimate: never, stop: never, end: never }}
                market={{ estimate: never, stop: never, end: never }}
                phaser={{ phases: never, pools: never, stop: never }}
            />,
        ),
        // Of any link: who shows a preview of one runs no script.
        TITLE: say('page.title', { summary: say('page.question'), name: say('page.name') }),
        DESCRIPTION: say('page.description'),
        NOSCRIPT: say('page.noscript'),
    };
    return { texts, boot, example: { catalog: withFewDetails(catalog, answer.job), answer, alternatives } };
}
