import { expect, test } from 'vitest';
import { spanIn } from './spans';

test('time as people write it, in the unit of the field; any other text stays', () => {
    const read = (text: string, seconds = 1): string => spanIn(seconds)(text);
    const known = {
        '10 min': 600,
        '10min': 600,
        '10m': 600,
        '2 h': 7200,
        '1.5 hours': 5400,
        '1 h 30 min': 5400,
        '90 s': 90,
        '500 ms': 0.5,
        '１０ 分': 600,
    };
    for (const [text, seconds] of Object.entries(known)) expect([text, Number(read(text).replace(',', ''))]).toEqual([text, seconds]);
    expect(read('2 days', 3600)).toBe('48');
    expect(read('50k h', 3600)).toBe('50,000');
    expect(read('2天', 3600)).toBe('48');
    for (const text of ['600', '', 'auto', '5M', '10 fortnights', 'about 10 min', '10 min or so', '1,2 million', '-5 min'])
        expect(read(text)).toBe(text);
});
