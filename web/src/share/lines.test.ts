import { expect, test } from 'vitest';
import { font, linesOf, type Measure } from './lines';

const each: Measure = (text) => text.length * 10; // ten pixels a letter
const lines = (text: string, width: number, most = 9): string[] => linesOf(text, width, most, font(10), each);

test('lines break between words, and no line is wider than its room', () => {
    expect(lines('one two three four', 100)).toEqual(['one two', 'three', 'four']);
    expect(lines('short', 100)).toEqual(['short']);
});

test('what no break may part stays together', () => {
    expect(lines('it has 80\u00a0GB of it', 100)).toEqual(['it has', '80\u00a0GB of', 'it']);
});

test('Japanese and Chinese break between letters, never before a full stop', () => {
    expect(lines('八十六十四。二', 53)).toEqual(['八十六十', '四。二']);
});

test('a word that is wider than its room is cut', () => {
    expect(lines('abcdefghijkl', 53)).toEqual(['abcde', 'fghij', 'kl']);
});

test('what is left out is marked', () => {
    expect(lines('one two three four', 100, 2)).toEqual(['one two', 'three…']);
    expect(linesOf('?a=1&b=2&c=3', 53, 2, font(10), each, true)).toEqual(['?a=1&', 'b=2&…']);
});
