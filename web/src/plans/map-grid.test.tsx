import { expect, test } from 'vitest';
import { entryAt } from '../core/heat';
import { format } from '../format/format';
import { catalog, heatOf } from '../shared/test-data';
import { cellsOf, focus, press, show, spies, tap } from '../shared/test-view';
import { allAuto } from '../state/state';
import { HeatGrid } from './map-grid';

const heat = heatOf();
const counts = heat.summary.gpu_counts;

function shown({ onlyFitting = false, speed = false, of = heat } = {}) {
    const act = spies();
    return {
        act,
        ...show(<HeatGrid catalog={catalog} onlyFitting={onlyFitting} answer={null} gpus={0} heat={of} act={act} speed={speed} />),
    };
}

test('plans in rows, numbers of GPUs in columns, each cell with its memory and verdict', () => {
    const { all, box } = shown();
    const head = cellsOf(box)[1];
    expect(head?.slice(-counts.length)).toEqual(counts.map(format.count));
    const cells = all('gridcell').slice(0, counts.length);
    cells.forEach((cell, column) => {
        const entry = entryAt(heat, 0, counts[column] ?? 0);
        const size = entry < 0 ? 'not possible' : format.gb(heat.columns.whole_bytes[entry] ?? 0);
        expect(cell.getAttribute('aria-label')).toContain(`${counts[column]} GPUs: ${size}`);
    });
});

test('a cell is a plan to take; everything that it does not say is chosen', () => {
    const { act, all } = shown();
    const index = all('gridcell').findIndex((_, i) => entryAt(heat, Math.floor(i / counts.length), counts[i % counts.length] ?? 0) >= 0);
    tap(all('gridcell')[index] as Element);
    const entry = entryAt(heat, Math.floor(index / counts.length), counts[index % counts.length] ?? 0);
    expect(act.change).toHaveBeenCalledWith(
        {
            ...allAuto(catalog),
            gpus: heat.columns.gpus[entry],
            tensor_parallel: heat.columns.tensor_parallel[entry],
            context_parallel: heat.columns.context_parallel[entry],
            pipeline_parallel: heat.columns.pipeline_parallel[entry],
            micro_batch: heat.columns.micro_batch[entry],
        },
        'choose',
    );
});

test('arrow keys move the focus, Enter takes', () => {
    const { act, all, find } = shown();
    const at = () => all('gridcell').indexOf(document.activeElement as HTMLElement);
    focus(all('gridcell').find((cell) => cell.getAttribute('tabindex') === '0') as Element);
    press(find('grid'), 'Home', { ctrlKey: true });
    expect(at()).toBe(0);
    press(find('grid'), 'ArrowRight');
    expect(at()).toBe(1);
    press(find('grid'), 'ArrowDown');
    expect(at()).toBe(1 + counts.length);
    press(find('grid'), 'Enter');
    const entry = entryAt(heat, 1, counts[1] ?? 0);
    expect(act.change).toHaveBeenCalledTimes(entry < 0 ? 0 : 1);
    expect(all('gridcell').filter((cell) => cell.getAttribute('tabindex') === '0')).toHaveLength(1);
});

test('rows in which nothing fits are left out, and come back on request', () => {
    expect(shown({ onlyFitting: true }).find('grid').getAttribute('aria-rowcount')).toBe(String(heat.fitting.length + 2));
    expect(shown({ speed: true }).names('grid')[0]).toMatch(/^Tokens per second/);
    const { act, find, text } = shown({ onlyFitting: true, of: { ...heat, fitting: Int32Array.from([]) } });
    expect(text()).toContain('No plan passes these filters.');
    tap(find('button', 'Show the plans that do not fit'));
    expect(act.onlyFitting).toHaveBeenCalledWith(false);
});
