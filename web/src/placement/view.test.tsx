import { expect, test, vi } from 'vitest';
import type { Refusal } from '../core/api';
import type { PlacedHere } from '../core/types';
import { goodOf, measuredOf, pageOf, refusalOf } from '../shared/test-data';
import { later, show, spies, tap } from '../shared/test-view';
import type { Page } from '../store/page';
import { PlacementView } from './view';

const never = () => new Promise<never>(() => {});

const placed = goodOf('place', 'place-step-time');

async function shown(answer: PlacedHere | Refusal | Error, page: Page = pageOf()) {
    vi.useFakeTimers();
    const place = vi.fn(async (_: object) => {
        if (answer instanceof Error) throw answer;
        return answer;
    });
    const placer = { place, stop: vi.fn(), end: vi.fn() };
    const placing = { measure: async () => measuredOf('place-step-time'), placers: [placer], exportPlan: never };
    const view = show(<PlacementView page={page} act={spies()} placing={placing} />);
    tap(view.find('button', 'Fill in an example'));
    await later(1000);
    return { place, placer, ...view };
}
async function searched(answer: PlacedHere | Refusal | Error) {
    const view = await shown(answer);
    tap(view.find('button', 'Find a placement'));
    await later(10_000);
    return view;
}

test('nothing is asked before there is a measurement', () => {
    const placing = { measure: async () => refusalOf('place-bad'), placers: [], exportPlan: never };
    const { names } = show(<PlacementView page={pageOf()} act={spies()} placing={placing} />);
    expect(names('heading')).toEqual(['The measurement']);
    expect(names('button')).not.toContain('Find a placement');
});

test('a measurement, a search, and what it found', async () => {
    const { all, place, placer, text } = await searched({ ...placed, nothing_to_gain: true, best_seconds: placed.default_seconds });
    expect(place.mock.calls[0]?.[0]).toMatchObject({ objective: 'step_time', gpus: 8, seed: 1 });
    expect(placer.end).toHaveBeenCalled();
    expect(all('button', 'Search again')).toHaveLength(1);
    expect(text()).toContain('Which node does what');
});

test('a search that is refused says why', async () => {
    const { problems } = refusalOf('place-bad');
    const { text } = await searched({ ok: false, version: 2, problems });
    expect(text()).toContain('The search cannot start because of these problems');
});

test('a search that fails says so', async () => {
    const { CoreCrash } = await import('../core/client');
    expect((await searched(new CoreCrash('gone'))).text()).toContain('The search failed. Try it once more.');
});

test('a run that cannot work has no placement', async () => {
    expect((await shown(placed, pageOf('broken-rules'))).text()).toContain('A placement needs a run that can work.');
});
