import { act } from 'preact/test-utils';
import { afterEach, expect, test, vi } from 'vitest';
import type { PhasedRun } from '../core/api';
import { format } from '../format/format';
import { answeredOf, goodOf, refusalOf } from '../shared/test-data';
import { plain, press, settle, show, tap, write } from '../shared/test-view';
import { formatPhases, parsePhases } from './link';
import { PhasesView } from './view';

const { page } = answeredOf();
afterEach(() => history.replaceState(null, '', '?'));

const run: PhasedRun = goodOf('phases', 'phases-70b');

test('phases are added, changed and calculated', async () => {
    const phaser = { phases: vi.fn(async () => run), pools: vi.fn(), stop: vi.fn() };
    const { all, find, text } = show(<PhasesView page={page} phaser={phaser} />);
    tap(find('button', 'Add a phase'));
    write(find('textbox', 'Phase 2: Sequence length'), '131072');
    tap(find('checkbox', 'TP and PP stay the same in all phases'));
    expect(new URLSearchParams(location.search).get('phases')).toContain('_131072_');
    tap(find('button', 'Calculate the phases'));
    await settle();
    expect(phaser.phases).toHaveBeenLastCalledWith(
        expect.objectContaining({ keep_degrees: true, phases: [expect.anything(), expect.objectContaining({ sequence_length: 131072 })] }),
    );
    const days = (value: number) => plain(format.training(value, value, value)[0]);
    expect(text()).toContain(`${days(run.total.computing_days)} of computing, ${days(run.total.days)} with what usually breaks`);
    expect(text()).toContain('the fullest phase');
    expect(all('img')).toHaveLength(1);
    // Around them stands the room, "In phases".
    expect(all('region').map((one) => one.getAttribute('aria-label'))).toEqual(['The phases', 'What each phase takes']);
});

test('one phase is the run as its sentence says it', () => {
    const phaser = { phases: vi.fn(), pools: vi.fn(), stop: vi.fn() };
    const tokensOf = (given: typeof page): string => {
        const view = show(<PhasesView page={given} phaser={phaser} />);
        return plain(view.find<HTMLInputElement>('textbox', 'Phase 1: Tokens').value);
    };
    expect(tokensOf(page)).toBe(plain(format.short(page.answer?.time.run?.tokens ?? 0)));
    expect(tokensOf({ ...page, job: { ...page.job, token_budget: 3e11 } })).toBe('300 billion');
    expect(tokensOf({ ...page, answer: null })).toBe('1 trillion');
});

test('what is wrong is named, and the calculation can be stopped', async () => {
    const phaser = { phases: vi.fn(async () => refusalOf('phases-bad')), pools: vi.fn(), stop: vi.fn() };
    const { find, text } = show(<PhasesView page={page} phaser={phaser} />);
    tap(find('button', 'Calculate the phases'));
    await vi.waitFor(() => expect(text()).toContain('Phase 1: Tokens'));
    const field = find('textbox', 'Phase 1: Tokens');
    expect(field.getAttribute('aria-invalid')).toBe('true');
    expect(document.getElementById(field.getAttribute('aria-describedby') ?? '')?.textContent).toContain('0 is too small');
    phaser.phases.mockImplementation(() => new Promise<never>(() => {}));
    tap(find('button', 'Llama 3.1 405B'));
    tap(find('button', 'Calculate the phases'));
    tap(find('button', 'Stop'));
    expect(phaser.stop).toHaveBeenCalledTimes(1);
});

test('numbers may be written as in the run, a change is a step of the history, and Back shows what the link then says', () => {
    const phaser = { phases: vi.fn(), pools: vi.fn(), stop: vi.fn() };
    const steps = history.length;
    const { find } = show(<PhasesView page={page} phaser={phaser} />);
    const length = () => find('textbox', 'Phase 1: Sequence length') as HTMLInputElement;
    length().focus();
    write(length(), '8');
    write(length(), '8k');
    expect(new URLSearchParams(location.search).get('phases')).toContain('_8192_');
    expect(history.length).toBe(steps + 1);
    tap(find('button', 'Add a phase'));
    expect(history.length).toBe(steps + 2);
    history.replaceState(null, '', '?phases=1_4096_4096_2');
    act(() => void dispatchEvent(new PopStateEvent('popstate')));
    expect(length().value).toBe('4,096');
});

test('time may be written in minutes, hours and days; a zero stays and is marked as wrong', async () => {
    const phaser = { phases: vi.fn(async () => refusalOf('phases-bad')), pools: vi.fn(), stop: vi.fn() };
    const { find } = show(<PhasesView page={page} phaser={phaser} />);
    const typed = {
        'Restart, seconds (600 is assumed)': '10 min',
        'Seconds between checkpoints': '2 h',
        'GPU-hours between failures (0: nothing breaks)': '30 days',
    };
    for (const [name, text] of Object.entries(typed)) write(find('textbox', name), text);
    const tokens = (): HTMLInputElement => find('textbox', 'Phase 1: Tokens');
    write(tokens(), '0');
    press(tokens(), 'Enter');
    tap(find('button', 'Calculate the phases'));
    await settle();
    expect(phaser.phases).toHaveBeenLastCalledWith(
        expect.objectContaining({
            restart_seconds: 600,
            checkpoint_seconds: 7200,
            failure_hours_per_gpu: 720,
            phases: [expect.objectContaining({ tokens: 0 })],
        }),
    );
    expect([tokens().value, tokens().getAttribute('aria-invalid')]).toEqual(['0', 'true']);
});

test('a link holds the phases', () => {
    const text = '1000000000000_8192_4194304_64,many_131072_4194304_128;storage_gbyte_per_s=40;keep_degrees=true';
    const phased = parsePhases(text);
    expect(phased).toMatchObject({ keep_degrees: true, storage_gbyte_per_s: 40, failure_hours_per_gpu: 'auto' });
    expect(phased?.rows[1]).toEqual({ tokens: 'many', sequence_length: 131072, tokens_per_step: 4194304, gpus: 128 });
    expect(phased && formatPhases(phased)).toBe(text);
    expect(parsePhases(null)).toBeNull();
});
