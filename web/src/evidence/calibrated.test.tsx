import { expect, test } from 'vitest';
import { answeredOf } from '../shared/test-data';
import { show } from '../shared/test-view';
import { Calibrated } from './calibrated';

const said = (runs: object): string => {
    const { answer } = answeredOf();
    return show(<Calibrated answer={{ ...answer, job: { ...answer.job, ...runs } }} />).text();
};

test('on how many runs an estimate rests; nothing without any', () => {
    expect(said({})).toBe('');
    expect(said({ time_runs: 1 })).toBe('Calibrated with 1 run of your own');
    expect(said({ time_runs: 12 })).toBe('Calibrated with 12 runs of your own');
    expect(said({ memory_runs: 5 })).toBe('Memory calibrated with 5 runs of your own');
    expect(said({ time_runs: 12, memory_runs: 5 })).toBe('Calibrated with your own runs: 12 of the time, 5 of the memory');
});
