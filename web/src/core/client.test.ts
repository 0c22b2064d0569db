import { expect, test, vi } from 'vitest';
import { Core, CoreCrash, latestOnly, PATIENCE_MS } from './client';
import type { Question, Reply } from './serve';

// A worker that answers when the test says so.
class FakeWorker extends EventTarget {
    questions: Question[] = [];
    terminated = false;
    seconds = 0;
    postMessage(message: Question | object): void {
        if ('id' in message) this.questions.push(message);
        if ('second' in message) ++this.seconds;
    }
    terminate(): void {
        this.terminated = true;
    }
    reply(reply: Reply): void {
        this.dispatchEvent(new MessageEvent('message', { data: reply }));
    }
}

function fakeCore(second?: () => Promise<WebAssembly.Module>) {
    const workers: FakeWorker[] = [];
    const core = new Core(
        () => {
            const worker = new FakeWorker();
            workers.push(worker);
            return worker as unknown as Worker;
        },
        async () => ({}) as WebAssembly.Module,
        second,
    );
    return { core, workers };
}

test('answers find their questions in any order', async () => {
    const { core, workers } = fakeCore();
    const [one, two] = [core.estimate({ gpus: 1 }), core.estimate({ gpus: 2 })];
    const [first, second] = workers[0]?.questions ?? [];
    expect(first?.text).toBe('{"gpus":1}');
    workers[0]?.reply({ id: second?.id ?? 0, value: '"two"' });
    workers[0]?.reply({ id: first?.id ?? 0, value: '"one"' });
    expect(await Promise.all([one, two])).toEqual(['one', 'two']);
});

test('a crash rejects what was asked and the next question gets a new worker', async () => {
    const { core, workers } = fakeCore();
    const lost = core.estimate({});
    workers[0]?.reply({ id: 1, crash: 'out of memory' });
    await expect(lost).rejects.toThrow(CoreCrash);
    expect(workers[0]?.terminated).toBe(true);
    const next = core.estimate({});
    workers[1]?.reply({ id: 2, value: '"fine"' });
    expect(await next).toBe('fine');
});

test('a question that takes long is stopped when a newer one comes, and nobody hears of it', async () => {
    const { core, workers } = fakeCore();
    let now = 0;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
    const heard: unknown[] = [];
    const ask = latestOnly(
        (gpus: number) => core.limits({ gpus }),
        (answer) => heard.push(answer),
        (error) => heard.push(error),
        () => core.stop(),
    );
    ask(1);
    now = PATIENCE_MS;
    ask(2);
    expect(workers[0]?.terminated).toBe(false);
    now = PATIENCE_MS + 1;
    ask(3);
    expect(workers[0]?.terminated).toBe(true);
    await new Promise((done) => setTimeout(done));
    expect(workers[1]?.questions.map(({ text }) => text)).toEqual(['{"gpus":3}']);
    workers[1]?.reply({ id: workers[1].questions[0]?.id ?? 0, value: '"three"' });
    await new Promise((done) => setTimeout(done));
    expect(heard).toEqual(['three']);
    clock.mockRestore();
});

test('only the newest question waits, and stale answers are dropped', async () => {
    const open: { question: number; resolve: (answer: number) => void }[] = [];
    const shown: number[] = [];
    const ask = latestOnly<number, number>(
        (question) => new Promise((resolve) => open.push({ question, resolve })),
        (answer) => shown.push(answer),
        () => shown.push(-1),
    );
    for (const question of [1, 2, 3, 4]) ask(question);
    expect(open.map(({ question }) => question)).toEqual([1]);
    open[0]?.resolve(10);
    await new Promise((resolve) => setTimeout(resolve));
    expect(open.map(({ question }) => question)).toEqual([1, 4]);
    open[1]?.resolve(40);
    await new Promise((resolve) => setTimeout(resolve));
    expect(shown).toEqual([40]);
});

test('a thread that is lost is replaced, and what it was asked is asked once more; the second loss is told', async () => {
    const { core, workers } = fakeCore();
    const asked = core.estimate({ gpus: 1 });
    workers[0]?.dispatchEvent(new Event('error'));
    expect(workers[0]?.terminated).toBe(true);
    expect(workers[1]?.questions).toEqual(workers[0]?.questions);
    workers[1]?.dispatchEvent(new Event('error'));
    await expect(asked).rejects.toMatchObject({ askedTwice: true });
    expect(workers.length).toBe(2);
});

test('the second file of the module comes with the first question that needs it, once', async () => {
    const second = vi.fn(async () => ({}) as WebAssembly.Module);
    const { core, workers } = fakeCore(second);
    core.estimate({ explain: false });
    expect(second).not.toHaveBeenCalled();
    core.rank({ only: {} } as never);
    core.timeline({});
    await vi.waitFor(() => expect(workers[0]?.seconds).toBe(1));
    expect(second).toHaveBeenCalledTimes(1);
});

test('an answer that explains its numbers waits for the second file, in the same thread', async () => {
    const second = vi.fn(async () => ({}) as WebAssembly.Module);
    const { core, workers } = fakeCore(second);
    core.estimate({});
    await vi.waitFor(() => expect(workers[0]?.seconds).toBe(1));
    expect(workers[0]?.questions).toMatchObject([{ text: '{}', whole: true }]);
});

test('where the first file is not enough, a new thread with both is asked the same, and everything from then on', async () => {
    const second = vi.fn(async () => ({}) as WebAssembly.Module);
    const { core, workers } = fakeCore(second);
    const [one, two] = [core.estimate({ gpus: 1, explain: false }), core.estimate({ gpus: 2, explain: false })];
    workers[0]?.reply({ id: 1, lacks: 'second' });
    expect(workers[0]?.terminated).toBe(true);
    await vi.waitFor(() => expect(workers[1]?.seconds).toBe(1));
    expect(workers[1]?.questions.map(({ text, whole }) => [text, whole])).toEqual([
        ['{"gpus":1,"explain":false}', true],
        ['{"gpus":2,"explain":false}', true],
    ]);
    workers[1]?.reply({ id: 1, value: '"one"' });
    workers[1]?.reply({ id: 2, value: '"two"' });
    expect(await Promise.all([one, two])).toEqual(['one', 'two']);
    core.estimate({ gpus: 3, explain: false }).catch(() => {});
    expect(workers[1]?.questions.at(-1)).toMatchObject({ text: '{"gpus":3,"explain":false}', whole: true });
    expect(second).toHaveBeenCalledTimes(1);
    core.end();
});

test('where the second file cannot be had, what needs it fails, and the next question is tried without', async () => {
    const { core, workers } = fakeCore(async () => Promise.reject(new Error('404')));
    const asked = core.estimate({ gpus: 1, explain: false });
    workers[0]?.reply({ id: 1, lacks: 'second' });
    await expect(asked).rejects.toThrow('crash.no_file');
    const next = core.estimate({ gpus: 2, explain: false });
    expect(workers[1]?.questions.at(-1)?.whole).toBeUndefined();
    workers[1]?.reply({ id: 2, value: '"fine"' });
    expect(await next).toBe('fine');
});

test('without the second file the first answers still, and the next question tries again', async () => {
    const second = vi.fn(async () => Promise.reject(new Error('404')));
    const { core, workers } = fakeCore(second);
    const [fits, drawn] = [core.estimate({ explain: false }), core.timeline({})];
    await expect(drawn).rejects.toMatchObject({ message: 'crash.no_file' });
    workers[0]?.reply({ id: 1, value: '"fine"' });
    expect(await fits).toBe('fine');
    core.timeline({}).catch(() => {});
    expect(second).toHaveBeenCalledTimes(2);
    core.end();
});

test('a lost thread that was asked nothing is replaced by the next question', async () => {
    const { core, workers } = fakeCore();
    core.start();
    workers[0]?.dispatchEvent(new Event('error'));
    expect(workers.length).toBe(1);
    const next = core.estimate({});
    workers[1]?.reply({ id: 1, value: '"fine"' });
    expect(await next).toBe('fine');
});
