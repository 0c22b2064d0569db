import { expect, test, vi } from 'vitest';
import { goodOf } from '../shared/test-data';
import { settle, show, tap, textOf } from '../shared/test-view';
import { Files } from './files';

const { files } = goodOf('place', 'place-step-time');

test('every launcher has its file, how to use it, and two ways to take it', async () => {
    const copied = vi.spyOn(navigator.clipboard, 'writeText').mockResolvedValue();
    const { all, box, find } = show(<Files files={files} />);
    expect(files.length).toBeGreaterThan(0);
    expect([...box.querySelectorAll('summary')].map(textOf)[0]).toBe(`Slurm: ${files[0]?.name}`);
    for (const { name } of files) {
        expect(find<HTMLAnchorElement>('link', `Download ${name}`).download).toBe(name);
        tap(find('button', `Copy ${name}`));
    }
    await settle();
    expect(copied.mock.calls.slice(-files.length).map(([text]) => text)).toEqual(files.map(({ text }) => text));
    expect(all('link').every((one) => (one as HTMLAnchorElement).href.startsWith('blob:'))).toBe(true);
});

test('a launcher that the page does not know has its file’s name alone', () => {
    const unknown = { ...files[0], id: 'new', name: 'new.txt' } as unknown as (typeof files)[0];
    expect(textOf(show(<Files files={[unknown]} />).one('summary'))).toBe('new.txt');
});
