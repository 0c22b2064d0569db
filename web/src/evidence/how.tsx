import type { Source } from '../core/api';
import { profileOf } from '../shared/answer-words';
import { CopyButton } from '../shared/copy-button';
import { Folded } from '../shared/folded';
import { aboutOf, nameOf, wordsFor } from '../shared/names';
import { version } from '../shared/repository';
import { Words } from '../shared/words';
import { say } from '../words/words';
import { bibtex } from './cite';

const PARAGRAPHS = ['computed', 'verdict', 'step', 'choice', 'privacy'] as const;

import { Room } from '../shared/room';
import type { Page } from '../store/page';

// The address without what is set in it.
function Citation() {
    const text = (): string => bibtex(location.href.replace(/[?#].*$/, ''), version(), new Date());
    return (
        <Folded title={say('how.cite')} late>
            <p class="note">{say('how.cite_help')}</p>
            <pre class="cite">{text()}</pre>
            <p class="acts">
                <CopyButton label={say('how.cite_copy')} text={text} />
            </p>
        </Folded>
    );
}

const Link = ({ source }: { source: Source }) => <a href={source.url}>{source.title}</a>;

export function How({ page }: { page: Page }) {
    const { catalog, job } = page;
    const method = catalog.methods.find((one) => one.id === job.method) ?? catalog.methods[0];
    const gpu = profileOf(page);
    const model = catalog.models.find((one) => one.id === job.model);
    return (
        <Room id="how" class="how" title={say('how.title')}>
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
                    <Citation />
                </div>
            </div>
        </Room>
    );
}
