import { expect, test, vi } from 'vitest';
import { show, tap } from './test-view';
import { AskButton, AskStatus, useAsked } from './use-asked';

function Room({ ask, end, about }: { ask: () => Promise<string>; end: () => void; about: number }) {
    const [answer, start, stop] = useAsked(ask, end, [about]);
    return (
        <>
            <AskButton answer={answer} ask={start} stop={stop} label="Count" />
            <AskStatus answer={answer} working="Counting">
                {answer}
            </AskStatus>
        </>
    );
}

test('an answer that comes after a stop, or to what was asked before, is not heard', async () => {
    const open: ((answer: string) => void)[] = [];
    const end = vi.fn();
    const room = (about: number) => <Room ask={() => new Promise((done) => open.push(done))} end={end} about={about} />;
    const { find, text, again } = show(room(1));
    tap(find('button', 'Count'));
    expect(text()).toContain('Counting');
    tap(find('button', 'Stop'));
    expect(end).toHaveBeenCalledTimes(1);
    tap(find('button', 'Count'));
    open[0]?.('the first');
    open[1]?.('the second');
    await vi.waitFor(() => expect(text()).toBe('Count the second'));
    again(room(2));
    expect(text()).toBe('Count');
});
