import { expect, test, vi } from 'vitest';
import { catalog, goodOf } from '../shared/test-data';
import { defaults, withConfig } from '../state/state';
import { withKnownModel } from './known-model';

const findModels = vi.hoisted(() => vi.fn());
vi.mock('../formats/reader', () => ({ findModels }));

test('only a model that the catalogue lacks is asked for; where that cannot be had, the job stays as it is', async () => {
    const job = defaults(catalog);
    const custom = withConfig(job, { hidden_size: 64 });
    for (const known of [job, custom]) expect(await withKnownModel(known, catalog)).toBe(known);
    expect(findModels).not.toHaveBeenCalled();
    const found = goodOf('find_models', 'find-models');
    const asked = { ...job, model: 'gemma-2b' };
    findModels.mockResolvedValueOnce(found);
    expect((await withKnownModel(asked, catalog)).model).toBe('custom');
    findModels.mockRejectedValueOnce(new Error('offline'));
    expect(await withKnownModel(asked, catalog)).toBe(asked);
});
