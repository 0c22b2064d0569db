// Whether a worker still lives. Nothing tells a page that a worker's thread was ended from outside, by a browser short of memory for one.
// A worker therefore holds a lock of its own (worker.ts), and the page waits for that lock: it is given when the thread is gone, at once,
// and never before, however slow the machine is. Where there are no locks, a worker that was asked and has said nothing for minutes
// is taken for dead.

const TICK_MS = 1000; // counted while the page is awake: a machine that slept has not waited
const SILENT_TICKS = 300; // longer than any single answer takes

export interface Alive {
    heard(): void; // anything at all
    holds(lock: string): void;
    end(): void; // ended by the page itself
}

export function watchOver(asked: () => boolean, dead: () => void): Alive {
    let ended = false;
    let silent = 0;
    const timer = setInterval(() => {
        silent = asked() ? silent + 1 : 0;
        if (silent >= SILENT_TICKS) die();
    }, TICK_MS);
    const end = (): void => {
        ended = true;
        clearInterval(timer);
    };
    const die = (): void => {
        if (ended) return;
        end();
        dead();
    };
    return {
        heard() {
            silent = 0;
        },
        holds(lock) {
            clearInterval(timer);
            navigator.locks.request(lock, die).catch(() => {});
        },
        end,
    };
}
