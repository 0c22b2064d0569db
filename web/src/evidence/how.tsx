import type { Source } from '../core/api';
import { profileOf } from '../shared/answer-words';
import { aboutOf, nameOf, wordsFor } from '../shared/names';
import { Words } from '../shared/words';
import { say } from '../words/words';

const PARAGRAPHS = ['computed', 'verdict', 'step', 'choice', 'privacy'] as const;

import type { Page } from '../store/page';

const Link = ({ source }: { source: Source }) => <a href={source.url}>{source.title}</a>;

export function How({ page }: { page: Page }) {
    const { catalog, job } = page;
    const method = catalog.methods.find((one) => one.id === job.method) ?? catalog.methods[0];
    const gpu = profileOf(page);
    const model = catalog.models.find((one) => one.id === job.model);
    return (
        <section id="how" class="how" aria-labelledby="how-title">
            <h2 id="how-title">{say('how.title')}</h2>
            <div class="texts">
                {PARAGRAPHS.map((id) => (
                    <div key={id}>
                        <h3>{say(`how.${id}.title`)}</h3>
                        <p>{say(`how.${id}.text`)}</p>
                    </div>
                ))}
                {method && (
                    <div>
                        <h3>{say('how.limits', { method: nameOf('method', method) })}</h3>
                        <p>{aboutOf('method', method)}</p>
                        <ul>
                            {method.limits.map((limit) => (
                                <li key={wordsFor('limit', limit)}>{wordsFor('limit', limit)}</li>
                            ))}
                        </ul>
                    </div>
                )}
                <div>
                    <h3>{say('how.sources')}</h3>
                    <ul>
                        {method && (
                            <li>
                                <Link source={method.source} />
                            </li>
                        )}
                        {gpu?.sources.map((source) => (
                            <li key={source.url}>
                                <Words id="how.gpu_source" args={{ gpu: gpu.label }} slots={{ source: <Link source={source} /> }} />
                            </li>
                        ))}
                        {model?.sources.map((source) => (
                            <li key={source.url}>
                                <Words id="how.model_source" args={{ model: model.label }} slots={{ source: <Link source={source} /> }} />
                            </li>
                        ))}
                    </ul>
                </div>
            </div>
        </section>
    );
}
