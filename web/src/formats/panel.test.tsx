import { afterEach, expect, test, vi } from 'vitest';
import { goodOf, pageOf } from '../shared/test-data';
import { settle, show, tap } from '../shared/test-view';
import { ScriptPanel } from './panel';

const script = goodOf('export_plan', 'export-70b');
const page = pageOf('llama-70b-64-h100');

afterEach(() => void vi.restoreAllMocks());

function shown(changes = {}) {
    const close = vi.fn();
    return { close, ...show(<ScriptPanel page={page} script={{ ...script, ...changes }} close={close} />) };
}

test('the script as it is, what is yours to fill in, what it needs, and what it lacks', () => {
    const { all, find, text } = shown();
    expect(find('region', 'The script').textContent).toBe(script.text);
    expect(text()).toContain('Fill in before you start: NODE_RANK, MASTER_ADDR, DATA_ARGS, and TRAINING_ARGS.');
    expect(text()).toContain('Needs Megatron-Core 0.11 or newer, which brought --num-virtual-stages-per-pipeline-rank.');
    expect(all('listitem').map(({ textContent }) => textContent)).toContain('Dropout: off');
    expect(all('listitem')).toHaveLength(script.left_out.length);
});

test('a script that any version takes and that lacks nothing says neither', () => {
    const { all, text } = shown({ needs: null, left_out: [] });
    expect(text()).not.toContain('Needs');
    expect(all('listitem')).toEqual([]);
});

test('it is copied and saved whole', async () => {
    const copied = vi.spyOn(navigator.clipboard, 'writeText').mockImplementation(async () => {});
    const saved: string[] = [];
    vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (this: HTMLAnchorElement) {
        saved.push(this.download);
    });
    const { close, find } = shown();
    tap(find('button', 'Copy the script'));
    await settle();
    expect(copied).toHaveBeenCalledWith(script.text);
    tap(find('button', 'Download (.sh)'));
    expect(saved).toEqual(['fourfold-llama-3.1-70b-64-h100-sxm-80gb.sh']);
    tap(find('button', 'Close'));
    expect(close).toHaveBeenCalled();
});
