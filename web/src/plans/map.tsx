import { useState } from 'preact/hooks';
import { type Heat, PACES } from '../core/heat';
import { format } from '../format/format';
import { t } from '../i18n';
import { m } from '../i18n/more';
import { gpuLabel, modelLabel } from '../shared/sentences';
import type { Actions, Page } from '../store/page';
import { DegreeFilters } from './filters';
import { HeatGrid } from './map-grid';

function Funnel({ page, heat }: { page: Page; heat: Heat }) {
    const { summary } = heat;
    const rules = new Map(page.catalog.rules.map((rule) => [rule.id, rule.label]));
    const others = summary.rejected.map(({ rule, count }) => m.heat.rejectedBy(format.count(count), rules.get(rule) ?? rule));
    return (
        <p class="funnel">
            {m.heat.funnel(format.count(summary.candidates), format.count(summary.legal))} <b>{format.count(summary.fits)}</b> {m.heat.fits}
            , <b>{format.count(summary.at_risk)}</b> {m.heat.at_risk}, <b>{format.count(summary.does_not_fit)}</b> {m.heat.does_not_fit}.{' '}
            {others.length > 0 && `${m.heat.rejected}: ${others.join(', ')}.`}
        </p>
    );
}

function Filters({ page, heat, act }: { page: Page; heat: Heat; act: Actions }) {
    return (
        <div class="filters">
            <label class="check">
                <input type="checkbox" checked={page.onlyFitting} onChange={(event) => act.onlyFitting(event.currentTarget.checked)} />{' '}
                {m.heat.only}
            </label>
            <DegreeFilters page={page} act={act} choices={heat.choices} />
        </div>
    );
}

// What the cells show, and what colours those that fit.
function Switch({ speed, show }: { speed: boolean; show(speed: boolean): void }) {
    return (
        <fieldset class="filters switch">
            <legend>{m.heat.show}</legend>
            {[false, true].map((one) => (
                <button key={String(one)} type="button" aria-pressed={speed === one} onClick={() => show(one)}>
                    {one ? m.heat.speed : m.heat.memory}
                </button>
            ))}
        </fieldset>
    );
}

function Legend({ speed }: { speed: boolean }) {
    const [fits, risk, large] = speed ? ['pace-0', '990 !', '990 ×'] : ['fits', '71.2 !', '91.2 ×'];
    const sample = speed ? '990' : '56.3';
    return (
        <ul class="legend" aria-hidden="true">
            {speed ? (
                PACES.map((share, pace) => (
                    <li key={share}>
                        <span class={`cell pace-${pace}`}>{sample}</span> {share > 0 ? m.heat.pace(format.percent(share)) : m.heat.slower}
                    </li>
                ))
            ) : (
                <li>
                    <span class="cell fits">61.2</span> {m.heat.legend.fits}
                </li>
            )}
            <li>
                <span class="cell at_risk">{risk}</span> {m.heat.legend.at_risk}
            </li>
            <li>
                <span class="cell does_not_fit">{large}</span> {m.heat.legend.does_not_fit}
            </li>
            <li>
                <span class={`cell ${fits} mark-auto`}>{sample}</span> {m.heat.auto}
            </li>
            <li>
                <span class={`cell ${fits} mark-current`}>{sample}</span> {m.heat.current}
            </li>
        </ul>
    );
}

function findingOf({ summary }: Heat): string {
    const legal = format.count(summary.legal);
    if (summary.legal === 0) return m.heat.findingImpossible;
    return summary.fits === 0 ? m.heat.findingNone(legal) : m.heat.finding(format.count(summary.fits), legal);
}

export function Plans({ page, act }: { page: Page; act: Actions }) {
    const { heat } = page;
    const [speed, show] = useState(false);
    const subtitle = speed ? m.heat.subtitleSpeed : m.heat.subtitle;
    return (
        <section id="plans" class={page.heatStale ? 'plans stale' : 'plans'} aria-labelledby="plans-title">
            <h2 id="plans-title">{t.sections.plans}</h2>
            {!heat ? (
                <p class="note">{page.problems.length > 0 ? t.heat.notYet : t.heat.loading}</p>
            ) : (
                <>
                    <p class="finding">
                        {findingOf(heat)}. {heat.summary.legal > 0 && <span>{subtitle(modelLabel(page), gpuLabel(page))}</span>}
                    </p>
                    {page.heatStale && <p class="note">{m.heat.stale}</p>}
                    {(heat.summary.legal > 0 || Object.keys(page.heatFilter).length > 0) && (
                        <>
                            <Switch speed={speed} show={show} />
                            <Filters page={page} heat={heat} act={act} />
                            <HeatGrid
                                catalog={page.catalog}
                                onlyFitting={page.onlyFitting}
                                answer={page.problems.length === 0 ? page.answer : null}
                                gpus={Number(page.job.gpus)}
                                heat={heat}
                                act={act}
                                speed={speed}
                            />
                            <Legend speed={speed} />
                        </>
                    )}
                    <Funnel page={page} heat={heat} />
                </>
            )}
        </section>
    );
}
