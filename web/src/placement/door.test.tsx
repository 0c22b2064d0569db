import { expect, test } from 'vitest';
import { pageOf } from '../shared/test-data';
import { show, spies, tap } from '../shared/test-view';
import { Placement } from './door';

const never = () => new Promise<never>(() => {});

test('the view comes with the button that asks for it', async () => {
    const placing = { measure: never, placers: [], exportPlan: never };
    const { all, find, names } = show(<Placement page={pageOf()} act={spies()} placing={placing} />);
    expect(names('heading')).toEqual(['Placement on your own links']);
    tap(find('button', 'Use a measurement of your links'));
    await expect.poll(() => all('textbox', 'Paste or drop a measurement').length).toBe(1);
    expect(names('button')).not.toContain('Use a measurement of your links');
});

test('a link to it opens it', async () => {
    const placing = { measure: never, placers: [], exportPlan: never };
    location.hash = '#placement';
    try {
        const { all } = show(<Placement page={pageOf()} act={spies()} placing={placing} />);
        await expect.poll(() => all('textbox', 'Paste or drop a measurement').length).toBe(1);
    } finally {
        location.hash = '';
    }
});
