import { t } from '../i18n';
import type { Page } from '../store/page';

export function How({ page }: { page: Page }) {
    const { catalog, job } = page;
    const method = catalog.methods.find((one) => one.id === job.method) ?? catalog.methods[0];
    const gpu = catalog.gpus.find((one) => one.id === job.gpu);
    const model = catalog.models.find((one) => one.id === job.model);
    return (
        <section id="how" class="how" aria-labelledby="how-title">
            <h2 id="how-title">{t.how.title}</h2>
            <div class="texts">
                {t.how.paragraphs.map(([title, text]) => (
                    <div key={title}>
                        <h3>{title}</h3>
                        <p>{text}</p>
                    </div>
                ))}
                {method && (
                    <div>
                        <h3>{t.how.limits(method.label)}</h3>
                        <p>{method.summary}</p>
                        <ul>
                            {method.limits.map((limit) => (
                                <li key={limit}>{limit}</li>
                            ))}
                        </ul>
                    </div>
                )}
                <div>
                    <h3>{t.how.sources}</h3>
                    <ul>
                        {method && (
                            <li>
                                <a href={method.source.url}>{method.source.title}</a>
                            </li>
                        )}
                        {gpu?.sources.map((source) => (
                            <li key={source.url}>
                                {t.how.gpuSource(gpu.label)}: <a href={source.url}>{source.title}</a>
                            </li>
                        ))}
                        {model?.sources.map((source) => (
                            <li key={source.url}>
                                {t.how.modelSource(model.label)}: <a href={source.url}>{source.title}</a>
                            </li>
                        ))}
                    </ul>
                </div>
            </div>
        </section>
    );
}
