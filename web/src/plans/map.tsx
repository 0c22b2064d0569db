import { useState } from 'preact/hooks';
import { type Heat, PACES } from '../core/heat';
import { gpuLabel, modelLabel } from '../shared/answer-words';
import { plansComing } from '../shared/plan-words';
import { Room } from '../shared/room';
import { Words } from '../shared/words';
import type { Actions, Page } from '../store/page';
import { say, sentences } from '../words/words';
import { DegreeFilters } from './filters';
import { HeatGrid } from './map-grid';
import { rejectedText } from './rejected';

function Funnel({ page, heat }: { page: Page; heat: Heat }) {
    const { summary } = heat;
    const { candidates, legal: cells, fits, at_risk, does_not_fit, rejected } = summary;
    const legal = rejected.reduce((left, { count }) => left - count, candidates);
    return (
        <p class="funnel">
            {sentences(say('map.funnel', { candidates, legal }), rejectedText(page.catalog, rejected))}{' '}
            {cells > 0 && <Words id="map.shows" args={{ cells, fits, at_risk, does_not_fit }} tags={{ b: (inside) => <b>{inside}</b> }} />}
        </p>
    );
}

function Filters({ page, heat, act }: { page: Page; heat: Heat; act: Actions }) {
    return (
        <div class="filters">
            <label class="check">
                <input type="checkbox" checked={page.onlyFitting} onChange={(event) => act.onlyFitting(event.currentTarget.checked)} />{' '}
                {say('map.only')}
            </label>
            <DegreeFilters page={page} act={act} choices={heat.choices} />
        </div>
    );
}

// What the cells show, and what colours those that fit.
function Switch({ speed, show }: { speed: boolean; show(speed: boolean): void }) {
    return (
        <fieldset class="filters switch">
            <legend>{say('map.show')}</legend>
            {[false, true].map((one) => (
                <button key={String(one)} type="button" aria-pressed={speed === one} onClick={() => show(one)}>
                    {one ? say('map.speed') : say('map.memory')}
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
                        <span class={`cell pace-${pace}`}>{sample}</span>{' '}
                        {share > 0 ? say('map.pace', { share: share }) : say('map.slower')}
                    </li>
                ))
            ) : (
                <li>
                    <span class="cell fits">61.2</span> {say('fit.fits')}
                </li>
            )}
            <li>
                <span class="cell at_risk">{risk}</span> {say('fit.at_risk')}
            </li>
            <li>
                <span class="cell does_not_fit">{large}</span> {say('fit.does_not_fit')}
            </li>
            <li>
                <span class={`cell ${fits} mark-auto`}>{sample}</span> {say('map.auto')}
            </li>
            <li>
                <span class={`cell ${fits} mark-current`}>{sample}</span> {say('map.current')}
            </li>
        </ul>
    );
}

function findingOf({ summary: { fits, legal } }: Heat): string {
    if (legal === 0) return say('map.finding_impossible');
    return fits === 0 ? say('map.finding_none', { legal }) : say('map.finding', { fits, legal });
}

export function Plans({ page, act }: { page: Page; act: Actions }) {
    const { heat } = page;
    const [speed, show] = useState(false);
    return (
        <Room id="plans" class={page.heatStale ? 'plans stale' : 'plans'} title={say('section.plans')}>
            {!heat ? (
                <p class="note">{plansComing(page)}</p>
            ) : (
                <>
                    <p class="finding">
                        {findingOf(heat)}{' '}
                        {heat.summary.legal > 0 && (
                            <span>{say('map.subtitle', { speed, model: modelLabel(page), gpu: gpuLabel(page) })}</span>
                        )}
                    </p>
                    {page.heatStale && <p class="note">{say('map.stale')}</p>}
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
        </Room>
    );
}
